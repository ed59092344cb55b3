import { ChatClient, fetchServerSentEvents } from "@tanstack/ai-client";
import { StreamProcessor, type UIMessage } from "@tanstack/ai/client";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { random } from "../../../clients/typescript/test/server.js";
import { log, patient, plain, say, Server } from "./log.js";

let server: Server;
beforeAll(async () => { server = await Server.start(); });
afterAll(async () => { await server.stop(); });

const connection = (query = "", fetchClient = fetch) => fetchServerSentEvents(`${server.url}/agui/demo${query}`, {
  headers: { Authorization: `Bearer ${server.token}` }, reconnect: { delayMs: 5, maxAttempts: 50 }, fetchClient,
});

/**
 * What a person reads of the answers, in order: thoughts, texts, and calls with what came of them. Whether what
 * precedes a text shares its bubble is the client's: it does for one who watched, not for one whom a snapshot restores.
 */
function shown(messages: UIMessage[]) {
  return plain(messages).filter((m) => m.role === "assistant").flatMap((m) => m.parts).filter((p) => p.type !== "tool-result").map((p) => {
    // What a call's end adds to its metadata it takes from a snapshot only.
    const { stepId: _, metadata: __, ...part } = p as unknown as Record<string, unknown>;
    return part;
  });
}

const turns = ["think, list, parallel", "diff, exec, fail, late", "plan, notice, emoji", "subagent, image, markdown"];

test.each(turns)("joins at every event: %s", async (words) => {
  const thread = words.replaceAll(", ", "-");
  await say(server, thread, `run-${thread}`, words);
  const events = await log(server, thread);
  const there = new StreamProcessor();
  for (const { event } of events) there.processChunk(event as never);
  expect(there.getMessages().length).toBeGreaterThan(0);
  for (const [i, { id, event }] of events.entries()) {
    const joined = new StreamProcessor();
    for await (const chunk of connection(`?threadId=${thread}&prelude=replay&after=${id}`).joinRun(`run-${thread}`)) joined.processChunk(chunk);
    expect(shown(joined.getMessages()), `joined at ${i}, ${event.type}`).toEqual(shown(there.getMessages()));
  }
});

test("hydrates with what its own processor would make of a snapshot", async () => {
  await say(server, "hydrate", "h1", "think, list, parallel");
  await say(server, "hydrate", "h2", "late, plan, fail");
  const snapshot = new StreamProcessor();
  for await (const chunk of connection().joinRun("h2")) snapshot.processChunk(chunk);
  const whole = await connection().hydrate!("hydrate");
  // Activities, which it cannot show, leave it an empty message each.
  expect(plain(whole.messages)).toEqual(plain(snapshot.getMessages()).filter((m) => m.parts.length > 0));
  expect(whole).toMatchObject({ activeRun: null, interrupts: null, page: { truncated: false } });

  const pages: UIMessage[] = [];
  for (let before: string | undefined; ; ) {
    const part = await connection().hydrate!("hydrate", { limit: 2, ...(before ? { before } : {}) });
    expect(part.messages.length).toBeLessThanOrEqual(2);
    pages.unshift(...part.messages);
    if (!part.page?.truncated) break;
    before = part.page.cursor;
  }
  expect(plain(pages)).toEqual(plain(whole.messages));
  expect(await connection().hydrate!("unknown")).toMatchObject({ messages: [], activeRun: null, interrupts: null });
});

/** What useChat does when its component is mounted. */
function client(threadId: string) {
  const made = new ChatClient({ threadId, connection: connection(), persistence: true });
  made.attach();
  return made;
}

test("asks, is reloaded in mid-answer, and loses nothing", async () => {
  const a = client("reload");
  const asked = a.sendMessage("think, list, slow 2, list");
  await vi.waitFor(() => expect(JSON.stringify(a.getMessages())).toContain("list_files"), patient);
  const { lastRun } = await server.json("/v1/threads/reload");
  expect(lastRun.id).toBe(a.getCurrentRunId()); // the id that the client chose
  const b = client("reload");
  await asked;
  await vi.waitFor(() => expect(b.getStatus()).toBe("ready"), patient);
  await vi.waitFor(() => expect(shown(b.getMessages())).toEqual(shown(a.getMessages())), patient);
  expect(b.getError()).toBeFalsy();
  const c = client("reload");
  await vi.waitFor(() => expect(shown(c.getMessages())).toEqual(shown(a.getMessages())), patient);
  expect((await server.json("/v1/threads/reload/runs")).runs).toHaveLength(1);
  for (const x of [a, b, c]) x.dispose();
});

test("an approval waits through a reload and is answered there", async () => {
  const a = client("ask");
  await a.sendMessage("write answer.txt hello");
  expect(a.getInterrupts()).toHaveLength(1);
  const b = client("ask");
  await vi.waitFor(() => expect(b.getInterrupts()).toHaveLength(1), patient);
  expect(plain(b.getInterrupts()[0])).toMatchObject({ canResolve: true });
  const [question] = b.getInterrupts();
  (question as unknown as { resolveInterrupt: (payload: unknown) => void }).resolveInterrupt({ approved: true });
  await vi.waitFor(() => expect(JSON.stringify(b.getMessages())).toContain("I have written"), patient);
  expect(b.getInterrupts()).toHaveLength(0);
  for (const x of [a, b]) x.dispose();
});

test("X-Run-Id names the run", async () => {
  let named: string | null = "";
  const look = fetchServerSentEvents(`${server.url}/agui/demo`, {
    headers: { Authorization: `Bearer ${server.token}` },
    fetchClient: async (url, init) => {
      const response = await fetch(url, init);
      named = response.headers.get("X-Run-Id");
      expect(new Headers(init?.headers).get("X-Run-Id")).toBe(named);
      return response;
    },
  });
  const a = new ChatClient({ threadId: "named", connection: look });
  await a.sendMessage("echo hello");
  expect((await server.json("/v1/threads/named")).lastRun.id).toBe(named);
  a.dispose();
});

/** A body that breaks off after so many bytes. */
function broken(body: ReadableStream<Uint8Array>, left: number, onCut: () => void) {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(out) {
      if (left === 0) {
        await reader.cancel();
        onCut();
        return out.error(new TypeError("the connection was cut"));
      }
      const { done, value } = await reader.read();
      if (done) return out.close();
      const part = value.subarray(0, left);
      left -= part.length;
      out.enqueue(part);
    },
  }, { highWaterMark: 0 });
}

test("cut at random bytes, it shows what one shows that was not", async () => {
  const seed = Number(process.env.AGENTSTREAM_SEED ?? 7);
  const next = random(seed);
  let cuts = 0;
  const cutting: typeof fetch = async (url, init) => {
    const response = await fetch(url, init);
    // One that is cut before it has an id gives up.
    return new Response(broken(response.body!, 1000 + Math.floor(next() * 3000), () => { cuts++; }), response);
  };
  for (let i = 0; i < 9 || (i < 60 && cuts < 5); i++) {
    const a = new ChatClient({ threadId: `cut-${i}`, connection: connection("", cutting) });
    await a.sendMessage(["think, list, parallel", "exec, fail", "long 15, list"][i % 3]!);
    expect(a.getError(), `seed ${seed}, run ${i}`).toBeFalsy();
    const there = new StreamProcessor();
    for (const { event } of await log(server, `cut-${i}`)) there.processChunk(event as never);
    expect(shown(a.getMessages()), `seed ${seed}, run ${i}`).toEqual(shown(there.getMessages()));
    expect((await server.json(`/v1/threads/cut-${i}/runs`)).runs).toHaveLength(1);
    a.dispose();
  }
  expect(cuts).toBeGreaterThanOrEqual(5);
});
