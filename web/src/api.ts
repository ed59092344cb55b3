/** The server's own API, as docs/http.md has it. Every function throws ApiError. */
import type { PendingRequest, RequestOption } from "./model";
import { watchedFetch } from "./store/connection";

export type Agent = { name: string; type: string; state: "ready" | "missing" | "auth_required" | (string & {}); version?: string; path?: string; install?: string };
export type RunState = "queued" | "running" | "finished" | "failed" | "cancelled" | "interrupted" | "lost";
export type Run = {
  id: string; thread: string; agent: string; parent?: string; state: RunState; stopReason?: string;
  error?: { code: string; message: string }; createdAt: string; startedAt?: string; endedAt?: string;
  /** How the text of a queued run begins. */
  prompt?: string;
};
export type Choice = { current: string; available: { id: string; name: string; description?: string }[] };
export type Command = { name: string; description?: string; hint?: string };
export type Thread = {
  id: string; agent: string; title?: string; cwd: string; state: "idle" | "running" | "waiting";
  lastRun?: Run; pending: number; createdAt: string; updatedAt: string; cursor: string;
  modes?: Choice; models?: Choice; commands?: Command[];
};
export type RawMessage = {
  id: string; role: string; content?: unknown; toolCallId?: string; activityType?: string; subagentRunId?: string;
  toolCalls?: { id: string; function: { name: string; arguments: string }; metadata?: Record<string, unknown> }[];
  metadata?: Record<string, unknown>;
};
export type ContentPart = { type: string; text?: string; filename?: string; source?: { type: "data" | "url"; value: string; mimeType?: string } };

export class ApiError extends Error {
  constructor(readonly status: number, readonly code: string, message: string, readonly run?: string) {
    super(message);
  }
}

async function call<T>(path: string, init?: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await watchedFetch(path, init);
  } catch (e) {
    if (init?.signal?.aborted) throw e;
    throw new ApiError(0, "unreachable", "The server cannot be reached");
  }
  if (!response.ok) {
    const problem = (await response.json().catch(() => ({}))) as { code?: string; detail?: string; run?: string };
    throw new ApiError(response.status, problem.code ?? "", problem.detail ?? `The server answered ${response.status}`, problem.run);
  }
  return (response.status === 204 ? undefined : await response.json()) as T;
}

const json = (method: string, body: unknown): RequestInit => ({ method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
const query = (fields: Record<string, string | number | undefined>): string => {
  const q = new URLSearchParams();
  for (const [key, value] of Object.entries(fields)) if (value !== undefined && value !== "") q.set(key, String(value));
  return q.size > 0 ? "?" + q : "";
};
const at = (thread: string) => "/v1/threads/" + encodeURIComponent(thread);

export const agents = () => call<{ agents: Agent[] }>("/v1/agents").then((a) => a.agents);
/** A page of threads; with `wait` as soon as it is another than the one with the cursor `since`. */
export const threads = (q: { limit?: number; before?: string; q?: string; wait?: string; since?: string }, signal?: AbortSignal) =>
  call<{ threads: Thread[]; next?: string; cursor?: string }>("/v1/threads" + query(q), signal ? { signal } : {});
export const thread = (id: string) => call<Thread>(at(id));
export const patchThread = (id: string, patch: { title?: string; mode?: string; model?: string }) => call<Thread>(at(id), json("PATCH", patch));
export const deleteThread = (id: string, force: boolean) => call<void>(at(id) + (force ? "?force=true" : ""), { method: "DELETE" });
export const runs = (id: string) => call<{ runs: Run[] }>(at(id) + "/runs").then((r) => r.runs);
export const messages = (id: string, limit: number, before: string) => call<{ messages: RawMessage[] }>(at(id) + "/messages" + query({ limit, before }));
export const files = (id: string, prefix: string, signal: AbortSignal) => call<{ files: string[] }>(at(id) + "/files" + query({ prefix }), { signal }).then((f) => f.files);
export const cancelRun = (thread: string, run: string) => call<Run>("/v1/runs/" + encodeURIComponent(run) + "/cancel" + query({ threadId: thread }), { method: "POST" });

export type StartRun = { agent: string; runId: string; input: RawMessage[]; cwd?: string; parentRunId?: string };
export const startRun = (id: string, run: StartRun) => call<Run>(at(id) + "/runs", json("POST", { ...run, onConflict: "enqueue" }));

type RawRequest = Omit<PendingRequest, "options" | "kind" | "schema"> & {
  kind?: string; options?: RequestOption[] | null; state: string; elicitation?: { schema?: Record<string, unknown>; url?: string; message?: string };
};
export const pendingRequests = () =>
  call<{ requests: RawRequest[] }>("/v1/requests?state=pending").then((r) => r.requests.map(request));

function request({ elicitation, options, kind, ...rest }: RawRequest): PendingRequest {
  return { ...rest, kind: kind ?? "", options: options ?? [], ...(elicitation?.schema ? { schema: elicitation.schema } : {}) };
}

export type Answer = { optionId: string } | { approved: boolean } | { content: Record<string, unknown> };
export const resolve = (id: string, answer: Answer) => call<unknown>("/v1/requests/" + encodeURIComponent(id) + "/resolve", json("POST", answer));
