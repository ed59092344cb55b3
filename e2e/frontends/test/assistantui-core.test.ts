import { ResumableHttpAgent, type ResumableConfig } from "@agentstream/client";
import { AgUiThreadRuntimeCore } from "assistant-ui-core";
import { Observable } from "rxjs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { log, plain, say, Server, type Logged } from "./log.js";

let server: Server;
beforeAll(async () => { server = await Server.start(); });
afterAll(async () => { await server.stop(); });

const faults: string[] = [];
const fault = (...what: unknown[]) => { faults.push(what.map(String).join(" ")); };
const logger = { debug: () => undefined, info: () => undefined, warn: fault, error: fault };

function core(agent: ResumableHttpAgent) {
  return new AgUiThreadRuntimeCore({
    agent, logger, showThinking: true, notifyUpdate: () => undefined,
    history: { load: () => { agent.attachNext = true; return Promise.resolve({ messages: [], unstable_resume: true }); }, append: () => Promise.resolve() },
  } as never);
}

const agent = (threadId: string, more: Partial<ResumableConfig> = {}) => new ResumableHttpAgent({
  url: `${server.url}/agui/demo`, headers: { Authorization: `Bearer ${server.token}` }, threadId, retryDelay: 5, ...more,
});

/** One that was there: it was told each event as it was first said. */
class There extends ResumableHttpAgent {
  constructor(threadId: string, private events: Logged[]) { super({ url: `${server.url}/agui/demo`, threadId }); }
  override run() {
    return new Observable((out) => { for (const e of this.events) out.next(e.event as never); out.complete(); }) as ReturnType<ResumableHttpAgent["run"]>;
  }
}

interface Part { type: string; messages?: { content: Part[] }[]; [more: string]: unknown }

/**
 * What a person reads of the answers, in order. Which parts share a bubble is the client's: what precedes a text
 * shares that of one who watched, and a snapshot restores it in its own; what a
 * sub-agent did is nested for the one and follows its call for the other. Custom events are told live only.
 */
function shown(messages: readonly { content: unknown }[]): unknown[] {
  return plain(messages).flatMap((m) => m.content as Part[]).filter((p) => p.type !== "data").flatMap(
    ({ type, text, toolCallId, toolName, args, result, isError, messages: inner }) => [{ type, text, toolCallId, toolName, args, result, isError: isError === true }, ...shown(inner ?? [])],
  );
}
const answers = (c: ReturnType<typeof core>) => shown(c.getMessages().filter((m) => m.role === "assistant"));

const turns = ["think, list, parallel", "diff, exec, fail, late", "plan, notice, emoji", "subagent, image, markdown"];

test.each(turns)("joins at every event: %s", async (words) => {
  const thread = words.replaceAll(", ", "-");
  await say(server, thread, `run-${thread}`, words);
  const events = await log(server, thread);
  const there = core(new There(thread, events));
  await there.__internal_load();
  for (const [i, { id, event }] of events.entries()) {
    const joined = core(agent(thread, { fetch: (url: string, init: RequestInit) => fetch(`${url}&prelude=replay&after=${id}`, init) } as never));
    await joined.__internal_load();
    expect(answers(joined), `joined at ${i}, ${event.type}`).toEqual(answers(there));
    expect(joined.getMessages().at(-1)!.status).toEqual(there.getMessages().at(-1)!.status);
  }
  expect(faults.splice(0)).toEqual([]);
});
