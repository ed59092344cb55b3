import type { RawMessage } from "../api";
import type { BlobRef, CallState, Location, Media, Part, PendingRequest, PlanEntry, ToolCall, Turn } from "../model";
import { diff, media, noFacts, record, type CallFacts, type Facts } from "./facts";
import { share } from "./share";

type Blob = { path: string; sha256: string; bytes: number; mimeType?: string; encoding?: string };
type Raw = NonNullable<RawMessage["toolCalls"]>[number];

/**
 * Makes what is shown from AG-UI's list and what was seen beside it. Pure; parts that
 * did not change are the objects of `before`.
 */
export function turnsOf(messages: readonly RawMessage[], facts: Facts = noFacts, requests: readonly PendingRequest[] = [], before: readonly Turn[] = []): Turn[] {
  const maker = new Maker(messages, facts, requests);
  return share(before, maker.turns()) as Turn[];
}

class Maker {
  private results = new Map<string, RawMessage>();
  private asked = new Map<string, PendingRequest>();
  private began = new Map<string, string>(); // the call that began a sub-agent, as its result says
  private homes = new Map<string, Part[]>(); // of sub-agents

  constructor(private messages: readonly RawMessage[], private facts: Facts, requests: readonly PendingRequest[]) {
    for (const m of messages) {
      if (m.role !== "tool" || !m.toolCallId) continue;
      this.results.set(m.toolCallId, m);
      const { subagent } = record(record(m.metadata).agentstream);
      if (typeof subagent === "string") this.began.set(subagent, m.toolCallId);
    }
    for (const r of requests) if (r.toolCallId) this.asked.set(r.toolCallId, r);
  }

  turns(): Turn[] {
    const out: Turn[] = [];
    const answer = (): Part[] => {
      let last = out.at(-1);
      if (last?.role !== "assistant") out.push((last = { id: "", role: "assistant", parts: [] }));
      return last.parts;
    };
    for (const m of this.messages) {
      if (m.role === "user") {
        out.push({ id: m.id, role: "user", parts: userParts(m) });
        continue;
      }
      if (m.role === "tool" || m.role === "system" || m.role === "developer") continue;
      const root = answer();
      const turn = out.at(-1)!;
      turn.id ||= "a-" + m.id;
      const parts = m.subagentRunId ? this.home(m.subagentRunId, root) : root;
      this.add(m, parts);
    }
    this.end(out, answer);
    return out.filter((t) => t.role === "user" || t.parts.length > 0);
  }

  /** Where the words of a sub-agent go: into the call that began it, if that is known. */
  private home(id: string, root: Part[]): Part[] {
    const known = this.homes.get(id);
    if (known) return known;
    const about = this.facts.subagents.get(id);
    const parts: Part[] = [];
    this.homes.set(id, parts);
    const call = about?.call ?? this.began.get(id);
    const owner = call ? findCall(root, call) : undefined;
    if (owner) owner.children = parts;
    else root.push({ type: "subagent", id, name: about?.name || "Sub-agent", state: about?.state ?? "done", children: parts });
    return parts;
  }

  private add(m: RawMessage, parts: Part[]): void {
    const text = textOf(m.content);
    const streaming = this.facts.open.has(m.id);
    if (m.role === "reasoning") {
      const t = this.facts.thoughts.get(m.id);
      if (text || streaming) parts.push({ type: "thought", id: m.id, text, streaming, ...(t?.to !== undefined ? { ms: t.to - t.from } : {}) });
    } else if (m.role === "activity") {
      const part = activity(m);
      if (part) parts.push(part);
    } else {
      if (text) parts.push({ type: "text", id: m.id, text, streaming });
      for (const c of m.toolCalls ?? []) parts.push({ type: "call", call: this.call(c) });
    }
  }

  private call(c: Raw): ToolCall {
    const facts = this.facts.calls.get(c.id) ?? {};
    const about = record(record(c.metadata).agentstream);
    const result = this.results.get(c.id);
    const end = record(record(result?.metadata).agentstream);
    const request = this.asked.get(c.id);
    const live = (facts.args?.length ?? 0) > c.function.arguments.length ? facts.args! : c.function.arguments;
    const call: ToolCall = {
      id: c.id,
      name: c.function.name,
      title: first(end.title, facts.title, about.title) || c.function.name,
      kind: first(end.kind, facts.kind, about.kind) || "other",
      state: this.state(facts, result, end, request),
      args: live,
    };
    const locations = (end.locations ?? facts.locations ?? about.locations) as Location[] | undefined;
    if (locations?.length) call.locations = locations;
    if (request) call.request = request;
    if (facts.startedAt !== undefined) call.startedAt = facts.startedAt;
    if (facts.endedAt !== undefined) call.endedAt = facts.endedAt;
    outcome(call, facts, result, end);
    return call;
  }

  private state(facts: CallFacts, result: RawMessage | undefined, end: Record<string, unknown>, request: PendingRequest | undefined): CallState {
    if (result) {
      const why = typeof end.placeholder === "string" ? end.placeholder : "";
      if (why === "cancelled") return "cancelled";
      if (why && why !== "failed") return "interrupted";
      return end.status === "failed" ? "failed" : "done";
    }
    if (request) return "queued";
    if (this.facts.run === undefined) return "interrupted";
    return facts.complete === false ? "queued" : "running";
  }

  /** How the run ended, where that is more than an end. */
  private end(out: Turn[], answer: () => Part[]): void {
    const end = this.facts.end;
    if (!end || out.length === 0) return;
    if ("message" in end) answer().push({ type: "error", code: end.code, message: end.message });
    else if (Object.hasOwn(stops, end.stopReason)) answer().push({ type: "notice", id: "end", level: end.stopReason === "cancelled" ? "info" : "warning", text: stops[end.stopReason]! });
    const last = out.at(-1)!;
    last.id ||= "a-" + (out.at(-2)?.id ?? "end");
  }
}

const stops: Record<string, string> = {
  cancelled: "Stopped.",
  refusal: "The agent refused to go on.",
  max_tokens: "The answer was cut: the limit of tokens was reached.",
  max_turn_requests: "Stopped: the limit of steps in one turn was reached.",
};

function outcome(call: ToolCall, facts: CallFacts, result: RawMessage | undefined, end: Record<string, unknown>): void {
  const blobs = blobsOf(end);
  const output = typeof end.output === "string" ? end.output : result ? undefined : facts.output;
  if (output) call.output = output;
  const exit = typeof end.exitCode === "number" ? end.exitCode : facts.exitCode;
  if (exit !== undefined) call.exitCode = exit;
  const diffs = Array.isArray(end.diffs) ? end.diffs.map((d) => diff(record(d))) : facts.diffs;
  if (diffs?.length) call.diffs = diffs;
  const shown = Array.isArray(end.media)
    ? end.media.map((m, i) => media({ ...record(m), ...blobs.get(`/metadata/agentstream/media/${i}/data`) }))
    : facts.media ?? [];
  const parts = result && Array.isArray(result.content) ? (result.content as Record<string, unknown>[]).map(mediaPart) : [];
  const all = [...shown, ...parts].filter((m): m is Media => m !== undefined);
  if (all.length > 0) call.media = all;
  if (!result || end.placeholder) return;
  const text = textOf(result.content);
  if (text && text !== call.output) call.result = text;
  // A terminal's text often stands in both places; one of them is enough to load the rest.
  const rest = blobs.get("/content") ?? blobs.get("/metadata/agentstream/output");
  if (rest) call.resultBlob = rest;
  if (!call.output && call.kind === "execute" && text) {
    call.output = text;
    delete call.result;
  }
}

function blobsOf(about: Record<string, unknown>): Map<string, BlobRef> {
  const out = new Map<string, BlobRef>();
  if (!Array.isArray(about.blobs)) return out;
  for (const b of about.blobs as Blob[]) {
    out.set(b.path, { sha256: b.sha256, bytes: b.bytes, ...(b.mimeType ? { mimeType: b.mimeType } : {}) });
  }
  return out;
}

function activity(m: RawMessage): Part | undefined {
  const c = record(m.content);
  switch (m.activityType) {
    case "plan":
      return { type: "plan", id: m.id, entries: (Array.isArray(c.entries) ? c.entries : []) as PlanEntry[] };
    case "notice":
      return { type: "notice", id: m.id, level: String(c.severity ?? "info"), text: String(c.text ?? "") };
    case "media": {
      const blob = blobsOf(record(c.agentstream)).get("/content/data");
      const shown = media({ ...c, ...blob });
      return shown && { type: "media", media: shown };
    }
    default:
      return typeof c.text === "string" && c.text ? { type: "notice", id: m.id, level: "info", text: c.text } : undefined;
  }
}

function userParts(m: RawMessage): Part[] {
  if (!Array.isArray(m.content)) return [{ type: "text", id: m.id, text: textOf(m.content), streaming: false }];
  const parts: Part[] = [];
  for (const p of m.content as Record<string, unknown>[]) {
    const shown = mediaPart(p);
    if (shown) parts.push({ type: "media", media: shown });
  }
  const text = textOf(m.content);
  if (text) parts.push({ type: "text", id: m.id, text, streaming: false });
  return parts;
}

function mediaPart(p: Record<string, unknown>): Media | undefined {
  const source = record(p.source);
  if (p.type === "text" || typeof source.value !== "string") return undefined;
  const name = typeof p.filename === "string" ? p.filename : record(p.metadata).name;
  return media({ mimeType: source.mimeType, name, ...(source.type === "data" ? { data: source.value } : { uri: source.value }) });
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return (content as Record<string, unknown>[]).filter((p) => p.type === "text").map((p) => String(p.text ?? "")).join("\n\n");
}

function findCall(parts: Part[], id: string): (Part & { type: "call" }) | undefined {
  for (const p of parts) {
    if (p.type === "call" && p.call.id === id) return p;
    const inner = p.type === "subagent" || p.type === "call" ? findCall(p.children ?? [], id) : undefined;
    if (inner) return inner;
  }
  return undefined;
}

const first = (...values: unknown[]): string => String(values.find((v) => typeof v === "string" && v !== "") ?? "");
