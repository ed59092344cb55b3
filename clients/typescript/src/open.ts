/** The part of an AG-UI event that is looked at here. */
export interface AnyEvent {
  type: string;
  [field: string]: unknown;
}

const pairs: Record<string, [end: string, id: string]> = {
  TEXT_MESSAGE_START: ["TEXT_MESSAGE_END", "messageId"],
  REASONING_START: ["REASONING_END", "messageId"],
  REASONING_MESSAGE_START: ["REASONING_MESSAGE_END", "messageId"],
  TOOL_CALL_START: ["TOOL_CALL_END", "toolCallId"],
  STEP_STARTED: ["STEP_FINISHED", "stepName"],
};
const ends = new Map(Object.entries(pairs).map(([start, [end, id]]) => [end, { start, id }]));

/** Knows what a stream has open, so that another one can be spliced in. */
export class Open {
  run = "";
  thread = "";
  private items = new Map<string, AnyEvent>();
  private subagents = new Set<string>();

  see(e: AnyEvent): void {
    const tag = String(e.subagentRunId ?? "");
    const pair = pairs[e.type];
    if (pair) this.items.set(`${e.type} ${e[pair[1]]} ${e.type === "STEP_STARTED" ? tag : ""}`, e);
    const end = ends.get(e.type);
    if (end) this.items.delete(`${end.start} ${e[end.id]} ${e.type === "STEP_FINISHED" ? tag : ""}`);
    if (e.type === "SUBAGENT_STARTED") this.subagents.add(tag);
    if (e.type === "RUN_STARTED") {
      this.run = String(e.runId);
      this.thread = String(e.threadId);
      this.items.clear();
      this.subagents.clear();
    }
    if (e.type === "RUN_FINISHED" || e.type === "RUN_ERROR") this.items.clear();
  }

  /** Ends for all that is open, the last opened first. */
  closers(): AnyEvent[] {
    return [...this.items.values()].reverse().map((start) => {
      const [type, id] = pairs[start.type]!;
      return { type, [id]: start[id], ...(start.subagentRunId ? { subagentRunId: start.subagentRunId } : {}) };
    });
  }

  /**
   * Turns a snapshot prelude into what goes on with this stream: of the same run
   * without its RUN_STARTED and without sub-agents that were announced; of another
   * one after an end of ours.
   */
  splice(prelude: AnyEvent[]): AnyEvent[] {
    const start = prelude[0];
    if (!this.run || start?.type !== "RUN_STARTED") return prelude;
    if (start.runId !== this.run) {
      return [...this.closers(), { type: "RUN_FINISHED", threadId: this.thread, runId: this.run }, ...prelude];
    }
    const rest = prelude.slice(1).filter((e) => e.type !== "SUBAGENT_STARTED" || !this.subagents.has(String(e.subagentRunId)));
    return [...this.closers(), ...rest];
  }
}
