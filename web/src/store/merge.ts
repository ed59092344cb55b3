/** One AG-UI event as it comes. */
export type Event = { type: string; [field: string]: unknown };

const deltas: Record<string, string> = {
  TEXT_MESSAGE_CONTENT: "messageId",
  REASONING_MESSAGE_CONTENT: "messageId",
  TOOL_CALL_ARGS: "toolCallId",
};

/**
 * Joins adjacent deltas of one thing. A stock client copies all its messages for each
 * event, so what one frame shows had better be few of them.
 */
export function merge(events: readonly Event[]): Event[] {
  const out: Event[] = [];
  for (const e of events) {
    const last = out.at(-1);
    const id = deltas[e.type];
    if (id && last && last.type === e.type && last[id] === e[id] && last.subagentRunId === e.subagentRunId) {
      out[out.length - 1] = { ...last, delta: String(last.delta) + String(e.delta) };
    } else {
      out.push(e);
    }
  }
  return out;
}
