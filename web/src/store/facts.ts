import type { CallState, Context, FileDiff, Location, Media } from "../model";
import type { Event } from "./merge";

/** What was seen of a call and is not in the client's message of it. */
export type CallFacts = {
  title?: string;
  kind?: string;
  locations?: Location[];
  exitCode?: number;
  diffs?: FileDiff[];
  media?: Media[];
  output?: string;
  /** Arguments that are ahead of what the client holds. */
  args?: string;
  sent?: string;
  complete?: boolean;
  startedAt?: number;
  endedAt?: number;
};

export type End = { code: string; message: string } | { stopReason: string };

/** A picture of it all: parts that did not change are the same objects as before. */
export type Facts = {
  calls: ReadonlyMap<string, CallFacts>;
  thoughts: ReadonlyMap<string, { from: number; to?: number }>;
  open: ReadonlySet<string>;
  subagents: ReadonlyMap<string, { name: string; call?: string; state: CallState }>;
  run: string | undefined;
  end: End | undefined;
  context: Context | undefined;
  silence: number;
};

export const noFacts: Facts = { calls: new Map(), thoughts: new Map(), open: new Set(), subagents: new Map(), run: undefined, end: undefined, context: undefined, silence: 0 };

const bytes = new TextEncoder();
const text = new TextDecoder();
// Live output is a preview; the result has it whole. 5 MB in a growing string would stall every frame.
const outputLimit = 1 << 20;

/**
 * Folds what AG-UI's list has no place for: live output and arguments, times, what is
 * open, how the run ended. `see` says whether the client is to have the event too.
 */
export class Watcher {
  facts: Facts = noFacts;

  see(e: Event): boolean {
    const change = Object.hasOwn(seen, e.type) ? seen[e.type] : undefined;
    if (change) this.facts = change(this.facts, e);
    return e.type !== "CUSTOM" && e.type !== "RAW";
  }
}

type Change = (f: Facts, e: Event) => Facts;

const time = (e: Event): number | undefined => (typeof e.timestamp === "number" ? e.timestamp : undefined);
const record = (v: unknown): Record<string, unknown> => (typeof v === "object" && v !== null ? (v as Record<string, unknown>) : {});
const own = (e: Event) => record(record(e.metadata).agentstream);

function call(f: Facts, id: unknown, change: Partial<CallFacts>): Facts {
  const calls = new Map(f.calls);
  calls.set(String(id), { ...calls.get(String(id)), ...change });
  return { ...f, calls };
}

function opened(f: Facts, id: unknown, is: boolean): Facts {
  const open = new Set(f.open);
  if (is) open.add(String(id));
  else open.delete(String(id));
  return { ...f, open };
}

function thought(f: Facts, e: Event, end: boolean): Facts {
  const at = time(e);
  const id = String(e.messageId);
  const before = f.thoughts.get(id);
  if (at === undefined || (end ? !before || before.to !== undefined : before !== undefined)) return f;
  const thoughts = new Map(f.thoughts);
  thoughts.set(id, end ? { from: before!.from, to: at } : { from: at });
  return { ...f, thoughts };
}

function subagent(f: Facts, e: Event, state: CallState): Facts {
  const id = String(e.subagentRunId);
  const before = f.subagents.get(id);
  const call = typeof e.parentToolCallId === "string" ? e.parentToolCallId : before?.call;
  const subagents = new Map(f.subagents);
  subagents.set(id, { name: String(e.name ?? before?.name ?? ""), state, ...(call ? { call } : {}) });
  return { ...f, subagents };
}

const over = (f: Facts): Facts => ({ ...f, run: undefined, open: new Set(), silence: 0 });

const seen: Record<string, Change> = {
  RUN_STARTED: (f, e) => ({ ...over(f), run: String(e.runId), end: undefined }),
  RUN_FINISHED: (f, e) => {
    const reason = record(e.result).stopReason;
    const waits = record(e.outcome).type === "interrupt";
    return { ...over(f), end: typeof reason === "string" && !waits ? { stopReason: reason } : undefined };
  },
  RUN_ERROR: (f, e) => ({ ...over(f), end: { code: String(e.code ?? ""), message: String(e.message ?? "") } }),
  // A snapshot is followed by a replay of what is live: it would come twice.
  MESSAGES_SNAPSHOT: (f) => {
    const calls = new Map(f.calls);
    for (const [id, { output: _, args: __, sent: ___, ...rest }] of calls) calls.set(id, rest);
    return { ...f, calls, open: new Set() };
  },
  TEXT_MESSAGE_START: (f, e) => opened(f, e.messageId, true),
  TEXT_MESSAGE_END: (f, e) => opened(f, e.messageId, false),
  REASONING_START: (f, e) => thought(f, e, false),
  REASONING_MESSAGE_START: (f, e) => thought(opened(f, e.messageId, true), e, false),
  REASONING_MESSAGE_END: (f, e) => thought(opened(f, e.messageId, false), e, true),
  REASONING_END: (f, e) => thought(f, e, true),
  TOOL_CALL_START: (f, e) => {
    const at = time(e);
    const known = f.calls.get(String(e.toolCallId))?.startedAt;
    return call(f, e.toolCallId, { complete: false, ...(at !== undefined && known === undefined ? { startedAt: at } : {}) });
  },
  TOOL_CALL_ARGS: (f, e) => {
    const c = f.calls.get(String(e.toolCallId));
    return call(f, e.toolCallId, { sent: (c?.sent ?? "") + String(e.delta) });
  },
  TOOL_CALL_END: (f, e) => {
    const calls = new Map(f.calls);
    const { args: _, sent: __, ...rest } = calls.get(String(e.toolCallId)) ?? {};
    calls.set(String(e.toolCallId), { ...rest, complete: true });
    return { ...f, calls };
  },
  TOOL_CALL_RESULT: (f, e) => {
    const at = time(e);
    return call(f, e.toolCallId, { complete: true, ...(at !== undefined ? { endedAt: at } : {}) });
  },
  SUBAGENT_STARTED: (f, e) => subagent(f, e, "running"),
  SUBAGENT_FINISHED: (f, e) => subagent(f, e, "done"),
  SUBAGENT_ERROR: (f, e) => subagent(f, e, "failed"),
  CUSTOM: (f, e) => {
    const change = Object.hasOwn(custom, String(e.name)) ? custom[String(e.name)] : undefined;
    return change ? change(f, record(e.value)) : f;
  },
};

const custom: Record<string, (f: Facts, v: Record<string, unknown>) => Facts> = {
  "agentstream.output": (f, v) => {
    const all = (f.calls.get(String(v.toolCallId))?.output ?? "") + String(v.data ?? "");
    return call(f, v.toolCallId, { output: all.length > outputLimit ? all.slice(-outputLimit / 2) : all });
  },
  "agentstream.arguments": (f, v) => {
    const c = f.calls.get(String(v.toolCallId));
    const shown = bytes.encode((c?.args?.length ?? 0) > (c?.sent?.length ?? 0) ? c!.args : (c?.sent ?? ""));
    return call(f, v.toolCallId, { args: text.decode(shown.subarray(0, Number(v.from) || 0)) + String(v.text ?? "") });
  },
  "agentstream.tool": (f, { toolCallId, ...v }) => {
    const change: Partial<CallFacts> = {};
    if (typeof v.title === "string") change.title = v.title;
    if (typeof v.kind === "string") change.kind = v.kind;
    if (Array.isArray(v.locations)) change.locations = v.locations as Location[];
    if (typeof v.exitCode === "number") change.exitCode = v.exitCode;
    return call(f, toolCallId, change);
  },
  "agentstream.diff": (f, v) => {
    if (v.toolCallId === undefined) return f;
    const d = diff(v);
    const others = (f.calls.get(String(v.toolCallId))?.diffs ?? []).filter((x) => x.path !== d.path);
    return call(f, v.toolCallId, { diffs: [...others, d] });
  },
  "agentstream.media": (f, v) => {
    const m = media(v);
    if (!m || v.toolCallId === undefined) return f;
    const before = f.calls.get(String(v.toolCallId))?.media ?? [];
    return before.some((x) => x.src === m.src) ? f : call(f, v.toolCallId, { media: [...before, m] });
  },
  "agentstream.context": (f, v) => ({ ...f, context: v as unknown as Context }),
  "agentstream.silence": (f, v) => ({ ...f, silence: Number(v.seconds) || 0 }),
};

export function diff(v: Record<string, unknown>): FileDiff {
  return { path: String(v.path ?? ""), newText: String(v.new ?? ""), ...(typeof v.old === "string" ? { oldText: v.old } : {}) };
}

/** A picture, sound or file, of data or at an address of this server. Others are shown by name alone. */
export function media(v: Record<string, unknown>): Media | undefined {
  const mimeType = typeof v.mimeType === "string" ? v.mimeType : "";
  const name = typeof v.name === "string" && v.name ? v.name : undefined;
  const sha = typeof v.sha256 === "string" ? v.sha256 : undefined;
  const uri = typeof v.uri === "string" ? v.uri : "";
  const src = sha ? `/v1/blobs/${sha}` : typeof v.data === "string" && v.data && mimeType ? `data:${mimeType};base64,${v.data}` : uri;
  if (!src && !name) return undefined;
  const inline = src.startsWith("data:") || src.startsWith("/");
  const kind = inline && /^image\/(png|jpeg|gif|webp|avif)$/.test(mimeType) ? "image" : inline && mimeType.startsWith("audio/") ? "audio" : "file";
  return { kind, src, ...(name ? { name } : uri ? { name: uri } : {}), ...(mimeType ? { mimeType } : {}) };
}

export { own, record };
