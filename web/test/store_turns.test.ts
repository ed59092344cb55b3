import { expect, test } from "vitest";
import type { RawMessage } from "../src/api";
import type { Part, PendingRequest } from "../src/model";
import { Watcher } from "../src/store/facts";
import type { Event } from "../src/store/merge";
import { turnsOf } from "../src/store/turns";

const user = (id: string, content: unknown): RawMessage => ({ id, role: "user", content });
const says = (id: string, content: string, more: Partial<RawMessage> = {}): RawMessage => ({ id, role: "assistant", content, ...more });
const calls = (id: string, call: string, about: Record<string, unknown> = {}, args = "{}"): RawMessage => ({
  id, role: "assistant", toolCalls: [{ id: call, function: { name: "tool", arguments: args }, metadata: { agentstream: about } }],
});
const result = (call: string, content: unknown, about: Record<string, unknown> = { status: "completed" }): RawMessage => ({
  id: "r-" + call, role: "tool", toolCallId: call, content, metadata: { agentstream: about },
});
const after = (...events: Event[]) => {
  const w = new Watcher();
  for (const e of events) w.see(e);
  return w.facts;
};
const started: Event = { type: "RUN_STARTED", threadId: "t", runId: "run1" };
const callOf = (parts: readonly Part[]) => {
  const p = parts.find((x) => x.type === "call");
  if (p?.type !== "call") throw new Error("no call");
  return p.call;
};

test("a question and all that was answered are two turns", () => {
  const turns = turnsOf([user("u1", "hi"), { id: "r1", role: "reasoning", content: "hm" }, says("m1", "yes"), calls("m2", "c1"), result("c1", "out"), says("m3", "done"), user("u2", "more")]);
  expect(turns.map((t) => [t.role, t.id])).toEqual([["user", "u1"], ["assistant", "a-r1"], ["user", "u2"]]);
  expect(turns[1]!.parts.map((p) => p.type)).toEqual(["thought", "text", "call", "text"]);
  expect(callOf(turns[1]!.parts)).toMatchObject({ id: "c1", state: "done", result: "out" });
});

test.each([
  ["done", { status: "completed" }, "done"],
  ["failed", { status: "failed" }, "failed"],
  ["failed without a result", { status: "failed", placeholder: "failed" }, "failed"],
  ["cancelled", { status: "failed", placeholder: "cancelled" }, "cancelled"],
  ["lost", { status: "failed", placeholder: "lost" }, "interrupted"],
])("the state of a call that ended: %s", (_, about, state) => {
  const call = callOf(turnsOf([calls("m", "c"), result("c", "[no result: x]", about)])[0]!.parts);
  expect(call.state).toBe(state);
  if ("placeholder" in about) expect(call.result).toBeUndefined();
});

test("the state of a call without a result", () => {
  const list = [calls("m", "c")];
  expect(callOf(turnsOf(list)[0]!.parts).state).toBe("interrupted");
  expect(callOf(turnsOf(list, after(started, { type: "TOOL_CALL_START", toolCallId: "c" }))[0]!.parts).state).toBe("queued");
  expect(callOf(turnsOf(list, after(started, { type: "TOOL_CALL_START", toolCallId: "c" }, { type: "TOOL_CALL_END", toolCallId: "c" }))[0]!.parts).state).toBe("running");
  const request: PendingRequest = { id: "q", thread: "t", run: "run1", toolCallId: "c", title: "Write", kind: "edit", options: [], createdAt: "" };
  expect(callOf(turnsOf(list, undefined, [request])[0]!.parts)).toMatchObject({ state: "queued", request });
});

test("live output shows until the result has it, and a snapshot does not double it", () => {
  const out = (data: string): Event => ({ type: "CUSTOM", name: "agentstream.output", value: { toolCallId: "c", data } });
  const list = [calls("m", "c", { kind: "execute" })];
  const w = new Watcher();
  expect([started, out("a\n"), out("b\n")].map((e) => w.see(e))).toEqual([true, false, false]);
  expect(callOf(turnsOf(list, w.facts)[0]!.parts).output).toBe("a\nb\n");
  w.see({ type: "MESSAGES_SNAPSHOT", messages: [] });
  w.see(out("a\nb\n"));
  expect(callOf(turnsOf(list, w.facts)[0]!.parts).output).toBe("a\nb\n");
  const done = callOf(turnsOf([...list, result("c", "a\nb\nc\n", { status: "completed", exitCode: 3 })], w.facts)[0]!.parts);
  expect(done).toMatchObject({ output: "a\nb\nc\n", exitCode: 3 });
  expect(done.result).toBeUndefined();
});

test("arguments that change before they are sent are shown as they are, in bytes", () => {
  const ahead = (from: number, text: string): Event => ({ type: "CUSTOM", name: "agentstream.arguments", value: { toolCallId: "c", from, text } });
  const list = [calls("m", "c", {}, "")];
  const facts = after(started, { type: "TOOL_CALL_START", toolCallId: "c" }, ahead(0, '{"ä":1}'), ahead(6, '"x"}'));
  expect(callOf(turnsOf(list, facts)[0]!.parts).args).toBe('{"ä":"x"}');
  const sent = after(started, { type: "TOOL_CALL_START", toolCallId: "c" }, ahead(0, "{}"), { type: "TOOL_CALL_END", toolCallId: "c" });
  expect(callOf(turnsOf(list, sent)[0]!.parts).args).toBe("");
});

test("times come from events alone", () => {
  const facts = after(
    started,
    { type: "REASONING_START", messageId: "r", timestamp: 1000 }, { type: "REASONING_MESSAGE_START", messageId: "r", timestamp: 1000 },
    { type: "REASONING_MESSAGE_END", messageId: "r", timestamp: 1700 }, { type: "REASONING_END", messageId: "r", timestamp: 1800 },
    { type: "TOOL_CALL_START", toolCallId: "c", timestamp: 2000 }, { type: "TOOL_CALL_RESULT", toolCallId: "c", timestamp: 2500 },
  );
  const [turn] = turnsOf([{ id: "r", role: "reasoning", content: "hm" }, calls("m", "c"), result("c", "x")], facts);
  expect(turn!.parts[0]).toMatchObject({ type: "thought", ms: 700, streaming: false });
  expect(callOf(turn!.parts)).toMatchObject({ startedAt: 2000, endedAt: 2500 });
});

test("a sub-agent's words stand in the call that began it, or by themselves", () => {
  const list = [calls("m1", "c1", { title: "Ask a helper" }), result("c1", "3"), { ...calls("m2", "c2"), subagentRunId: "s" }, { ...result("c2", "3"), subagentRunId: "s" }, says("m3", "three")];
  const facts = after(started, { type: "SUBAGENT_STARTED", subagentRunId: "s", name: "Task", parentToolCallId: "c1" }, { type: "SUBAGENT_FINISHED", subagentRunId: "s" });
  const [inside] = turnsOf(list, facts);
  expect(inside!.parts.map((p) => p.type)).toEqual(["call", "text"]);
  expect(inside!.parts[0]).toMatchObject({ children: [{ type: "call", call: { id: "c2" } }] });
  const [alone] = turnsOf(list);
  expect(alone!.parts.map((p) => p.type)).toEqual(["call", "subagent", "text"]);
});

test("how a run ended is said, until the next one", () => {
  const w = new Watcher();
  const list = [user("u", "x"), says("m", "part")];
  w.see(started);
  w.see({ type: "RUN_ERROR", code: "agent_exited", message: "gone" });
  expect(turnsOf(list, w.facts)[1]!.parts.at(-1)).toEqual({ type: "error", code: "agent_exited", message: "gone" });
  expect(turnsOf([user("u", "x")], w.facts)[1]!.parts).toHaveLength(1);
  w.see(started);
  w.see({ type: "RUN_FINISHED", result: { stopReason: "cancelled" } });
  expect(turnsOf(list, w.facts)[1]!.parts.at(-1)).toMatchObject({ type: "notice", text: "Stopped." });
  w.see(started);
  w.see({ type: "RUN_FINISHED", result: { stopReason: "end_turn" } });
  expect(turnsOf(list, w.facts)[1]!.parts).toHaveLength(1);
});

test("large payloads are references", () => {
  const blob = { sha256: "ab", bytes: 9, mimeType: "text/plain" };
  const call = callOf(turnsOf([calls("m", "c"), result("c", "head … tail", { status: "completed", blobs: [{ path: "/content", ...blob }] })])[0]!.parts);
  expect(call).toMatchObject({ result: "head … tail", resultBlob: blob });
  const [turn] = turnsOf([{ id: "a", role: "activity", activityType: "media", content: { mimeType: "image/png", data: "", agentstream: { blobs: [{ path: "/content/data", sha256: "cd", bytes: 1, encoding: "base64" }] } } }]);
  expect(turn!.parts[0]).toMatchObject({ type: "media", media: { kind: "image", src: "/v1/blobs/cd" } });
});

test("what agents and people send as media is drawn only where it is safe", () => {
  const shown = (content: Record<string, unknown>) => turnsOf([{ id: "a", role: "activity", activityType: "media", content }])[0]?.parts[0];
  expect(shown({ mimeType: "image/svg+xml", data: "PHN2Zz4=" })).toMatchObject({ media: { kind: "file" } });
  expect(shown({ mimeType: "image/png", uri: "https://elsewhere.example/x.png" })).toMatchObject({ media: { kind: "file" } });
  expect(shown({ mimeType: "text/plain" })).toBeUndefined();
  const [turn] = turnsOf([user("u", [{ type: "text", text: "see" }, { type: "image", source: { type: "data", value: "AA==", mimeType: "image/png" }, metadata: { name: "x.png" } }])]);
  expect(turn!.parts).toMatchObject([{ type: "media", media: { kind: "image", name: "x.png" } }, { type: "text", text: "see" }]);
});

test("only the turn that changed is a new object", () => {
  const list = [user("u1", "a"), says("m1", "one"), user("u2", "b"), says("m2", "two")];
  const before = turnsOf(list, after(started));
  const next = structuredClone(list);
  next[3]!.content = "two and";
  const turns = turnsOf(next, after(started), [], before);
  expect(turns.map((t, i) => t === before[i])).toEqual([true, true, true, false]);
  expect(turnsOf(structuredClone(next), after(started), [], turns)).toBe(turns);
});

test("whatever comes makes turns and no exception", () => {
  const odd: RawMessage[] = [
    { id: "1", role: "activity", activityType: "plan", content: null }, { id: "2", role: "activity", activityType: "x", content: [] },
    { id: "3", role: "assistant", content: 7 }, { id: "4", role: "tool", content: null, toolCallId: "none" }, { id: "5", role: "user", content: [{}, { type: "image" }, { type: "image", source: 5 }] },
    { id: "6", role: "assistant", toolCalls: [{ id: "c", function: { name: "n", arguments: "{" } }] }, { id: "7", role: "later" },
  ];
  expect(() => turnsOf(odd, after({ type: "CUSTOM", name: "agentstream.output", value: null }, { type: "CUSTOM", name: "toString", value: {} }, { type: "constructor" }))).not.toThrow();
});
