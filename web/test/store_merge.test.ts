import { expect, test } from "vitest";
import { merge } from "../src/store/merge";
import { share } from "../src/store/share";

test("adjacent deltas of one thing become one, and nothing else moves", () => {
  const text = (id: string, delta: string, more = {}) => ({ type: "TEXT_MESSAGE_CONTENT", messageId: id, delta, ...more });
  const args = (delta: string) => ({ type: "TOOL_CALL_ARGS", toolCallId: "c", delta });
  const start = { type: "TEXT_MESSAGE_START", messageId: "b" };
  expect(merge([text("a", "1"), text("a", "2"), text("b", "3"), start, text("b", "4"), text("b", "5", { subagentRunId: "s" }), args("{"), args("}"), text("a", "6")])).toEqual([
    text("a", "12"), text("b", "3"), start, text("b", "4"), text("b", "5", { subagentRunId: "s" }), args("{}"), text("a", "6"),
  ]);
  const events = [text("a", "1"), text("a", "2")];
  merge(events);
  expect(events[0]).toEqual(text("a", "1"));
});

test("what is equal is the same object, by id where there are ids", () => {
  const before = [{ id: "1", parts: [{ type: "text", text: "a" }] }, { id: "2", parts: [{ type: "text", text: "b" }] }];
  const next = structuredClone(before);
  expect(share(before, next)).toBe(before);
  const changed = structuredClone(before);
  changed[1]!.parts[0]!.text = "bc";
  const out = share(before, changed);
  expect(out).toEqual(changed);
  expect(out[0]).toBe(before[0]);
  expect(out[1]).not.toBe(before[1]);
  const longer = share(before, [{ id: "0", parts: [] }, ...structuredClone(before)]);
  expect(longer[1]).toBe(before[0]);
  expect(longer[2]).toBe(before[1]);
});

test("a field that went is gone", () => {
  const before = { a: 1, b: { c: 1 } };
  expect(share(before, { a: 1 })).toEqual({ a: 1 });
  expect(share({ a: undefined }, {})).toEqual({});
});
