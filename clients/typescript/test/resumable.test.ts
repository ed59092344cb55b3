import { afterAll, beforeAll, beforeEach, afterEach, expect, test, vi } from "vitest";
import { ResumableHttpAgent, type ResumableConfig } from "../src/index.js";
import { Cutter, Server, random } from "./server.js";

const seed = Number(process.env.AGENTSTREAM_SEED ?? 7);
let server: Server;
let count = 0;
const warnings: unknown[][] = [];

beforeAll(async () => { server = await Server.start(); });
afterAll(async () => { await server.stop(); });
beforeEach(() => {
  warnings.length = 0;
  vi.spyOn(console, "warn").mockImplementation((...a) => void warnings.push(a));
});
afterEach(() => { expect(warnings).toEqual([]); });

function agent(base: string, threadId = `t${++count}`, more: Partial<ResumableConfig> = {}) {
  return new ResumableHttpAgent({
    url: `${base}/agui/demo`, headers: { Authorization: `Bearer ${server.token}` }, threadId, retryDelay: 2, maxTries: 60, ...more,
  });
}

async function say(a: ResumableHttpAgent, content: string, runId?: string) {
  a.addMessage({ id: `u${++count}`, role: "user", content });
  await a.runAgent(runId ? { runId } : {});
}

const plain = (v: unknown) => JSON.parse(JSON.stringify(v)) as unknown;

async function equal(a: ResumableHttpAgent) {
  const stored = await server.json(`/v1/threads/${a.threadId}/messages`);
  expect(plain(a.messages)).toEqual(stored.messages);
  return stored;
}

test("an uncut run", async () => {
  const a = agent(server.url);
  await say(a, "think, list, parallel, late, emoji");
  await equal(a);
});

test("runs cut at random bytes are whole, and each is started once", async () => {
  const next = random(seed);
  let connections = 0; // what a reader missed comes in big frames, and one that is always cut never passes
  const cutter = await new Cutter(server.url, () => (++connections % 6 ? 100 + Math.floor(next() * 1000) : Number.MAX_SAFE_INTEGER)).open();
  try {
    // The slower a reader is, the less there is to cut: what it missed is merged.
    for (let i = 0; i < 25 || (i < 250 && cutter.cuts <= 10); i++) {
      const a = agent(cutter.url, undefined);
      await say(a, ["think, list, plan", "parallel, late", "emoji, markdown", "long 60", "diff, fail, exec"][i % 5]!);
      await equal(a);
      const { runs } = await server.json(`/v1/threads/${a.threadId}/runs`);
      expect(runs).toHaveLength(1);
    }
    console.info(`seed ${seed}: ${cutter.cuts} cuts`);
    expect(cutter.cuts).toBeGreaterThan(10);
  } finally {
    cutter.close();
  }
});

test("a second agent connects: to nothing, in mid-run, at rest", async () => {
  const a = agent(server.url);
  const b = agent(server.url, a.threadId);
  await b.connectAgent();
  expect(b.messages).toEqual([]);
  const running = say(a, "slow 2");
  await vi.waitFor(async () => expect((await server.json(`/v1/threads/${a.threadId}`)).state).toBe("running"), { timeout: 30_000 });
  await b.connectAgent();
  await running;
  await equal(a);
  await equal(b);
  const c = agent(server.url, a.threadId);
  await c.connectAgent();
  await equal(c);
  await c.connectAgent(); // at the end already: nothing to say twice
  await equal(c);
});

test("watch shows what another agent does", async () => {
  const a = agent(server.url);
  await say(a, "echo one");
  const b = agent(server.url, a.threadId);
  const stop = b.watch();
  try {
    await vi.waitFor(() => expect(b.messages).toHaveLength(2), { timeout: 30_000 });
    await say(a, "echo two");
    await vi.waitFor(() => expect(b.messages).toHaveLength(4), { timeout: 30_000 });
    await equal(b);
  } finally {
    stop();
  }
});

test("abort cancels the run on the server and shows its real end", async () => {
  const a = agent(server.url);
  a.addMessage({ id: `u${++count}`, role: "user", content: "slow 600" });
  const done = a.runAgent({ runId: "r-abort" });
  await vi.waitFor(() => expect(a.messages.length).toBeGreaterThan(1), { timeout: 30_000 });
  a.abortRun();
  await done;
  await vi.waitFor(async () => expect((await server.json(`/v1/runs/r-abort?threadId=${a.threadId}`)).state).toBe("cancelled"), { timeout: 30_000 });
});

test("an approval is answered; typing instead cancels it", async () => {
  const a = agent(server.url);
  await say(a, "write one.txt");
  expect(a.pendingInterrupts).toHaveLength(1);
  await a.runAgent({ resume: [{ interruptId: a.pendingInterrupts[0]!.id, status: "resolved", payload: { approved: true } }] });
  expect(a.pendingInterrupts).toEqual([]);
  await equal(a);
  await say(a, "write two.txt");
  expect(a.pendingInterrupts).toHaveLength(1);
  await say(a, "echo never mind");
  expect(a.pendingInterrupts).toEqual([]);
  await equal(a);
  const b = agent(server.url, a.threadId);
  await b.connectAgent();
  await equal(b);
});

test("attachNext joins instead of starting", async () => {
  const a = agent(server.url);
  await say(a, "echo hello");
  const b = agent(server.url, a.threadId);
  b.attachNext = true;
  await b.runAgent();
  await equal(b);
  expect((await server.json(`/v1/threads/${a.threadId}/runs`)).runs).toHaveLength(1);
});

test("a cursor that is gone is spliced over", async () => {
  let refuse = 1;
  let gone = 0;
  const a = agent(server.url, undefined, {
    fetch: (url: string | URL | Request, init?: RequestInit) => {
      const headers = new Headers(init?.headers);
      if (headers.has("Last-Event-ID") && refuse-- > 0) {
        gone++;
        return Promise.resolve(new Response('{"code":"cursor_gone","detail":"gone"}', { status: 410 }));
      }
      return fetch(url, init);
    },
  } as Partial<ResumableConfig>);
  const next = random(seed + 1);
  let connections = 0; // a prelude that never comes whole can not be taken
  const cutter = await new Cutter(server.url, () => (++connections % 3 ? 400 + Math.floor(next() * 1500) : Number.MAX_SAFE_INTEGER)).open();
  try {
    for (let i = 0; i < 12; i++) {
      refuse = 1;
      a.threadId = `gone${++count}`;
      a.setMessages([]);
      a.url = `${cutter.url}/agui/demo`;
      await say(a, "think, list, parallel, emoji");
      await equal(a);
    }
    expect(gone).toBeGreaterThan(0);
  } finally {
    cutter.close();
  }
});

test("refusals are final and say why", async () => {
  const a = agent(server.url);
  a.headers = { Authorization: "Bearer wrong" };
  a.addMessage({ id: "u", role: "user", content: "x" });
  const error = vi.spyOn(console, "error").mockImplementation(() => undefined);
  await expect(a.runAgent()).rejects.toMatchObject({ status: 401, code: "unauthorized" });
  error.mockRestore();
});

test("clone copies every field, and another thread starts clean", async () => {
  const a = agent(server.url, undefined, { cancelPending: false, idle: 1234 });
  await say(a, "write three.txt");
  const b = a.clone();
  expect([b.base, b.cancelPending, b.idle]).toEqual([a.base, false, 1234]);
  expect(b.url).toBe(a.url);
  b.threadId = `t${++count}`;
  b.setMessages([]);
  await say(b, "echo free"); // pending interrupts of the other thread do not lock this one
  await equal(b);
});

test("abort after joining cancels the run that was joined", async () => {
  const a = agent(server.url);
  a.addMessage({ id: `u${++count}`, role: "user", content: "slow 600" });
  const done = a.runAgent({ runId: "r-joined" });
  await vi.waitFor(() => expect(a.messages.length).toBeGreaterThan(1), { timeout: 30_000 });
  const b = agent(server.url, a.threadId);
  const joined = b.connectAgent();
  await vi.waitFor(() => expect(b.messages.length).toBeGreaterThan(1), { timeout: 30_000 });
  b.abortRun();
  await Promise.all([done, joined]);
  await vi.waitFor(async () => expect((await server.json(`/v1/runs/r-joined?threadId=${a.threadId}`)).state).toBe("cancelled"), { timeout: 30_000 });
});

test("attachNext does not swallow a message that the server lacks", async () => {
  const a = agent(server.url);
  await say(a, "echo one");
  a.attachNext = true;
  await say(a, "echo two");
  await equal(a);
  expect((await server.json(`/v1/threads/${a.threadId}/runs`)).runs).toHaveLength(2);
});
