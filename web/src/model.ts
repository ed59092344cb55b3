/** What the page shows, free of AG-UI and of React. `store/turns.ts` makes it, `message/` draws it. */

export type CallState = "queued" | "running" | "done" | "failed" | "cancelled" | "interrupted";

export type Location = { path: string; line?: number };

export type FileDiff = { path: string; oldText?: string; newText: string };

/** The full text stands at /v1/blobs/{sha256}; the field beside it holds a preview. */
export type BlobRef = { sha256: string; bytes: number; mimeType?: string };

export type Media = { kind: "image" | "audio" | "file"; src: string; name?: string; mimeType?: string };

/** Times are milliseconds since 1970. */
export type ToolCall = {
  id: string;
  name: string;
  title: string;
  kind: "read" | "edit" | "delete" | "move" | "search" | "execute" | "think" | "fetch" | "other" | (string & {});
  state: CallState;
  /** JSON text; cut anywhere while it streams. */
  args: string;
  result?: string;
  resultBlob?: BlobRef;
  /** Live or final terminal text; ANSI sequences are in it. */
  output?: string;
  exitCode?: number;
  diffs?: FileDiff[];
  locations?: Location[];
  media?: Media[];
  startedAt?: number;
  endedAt?: number;
  /** An open approval of this call. */
  request?: PendingRequest;
};

export type PlanEntry = { content: string; status: "pending" | "in_progress" | "completed"; priority?: string };

export type Part =
  | { type: "text"; id: string; text: string; streaming: boolean }
  | { type: "thought"; id: string; text: string; streaming: boolean; ms?: number }
  | { type: "call"; call: ToolCall; children?: Part[] }
  | { type: "subagent"; id: string; name: string; state: CallState; children: Part[] }
  | { type: "plan"; id: string; entries: PlanEntry[] }
  | { type: "notice"; id: string; level: string; text: string }
  | { type: "media"; media: Media }
  | { type: "error"; code: string; message: string };

export type Turn = { id: string; role: "user" | "assistant"; parts: Part[]; createdAt?: number; runId?: string };

export type RequestOption = { optionId: string; name: string; kind: string };

/** A question of an agent. With `schema` it is a form (JSON Schema of an object), without options yes or no. */
export type PendingRequest = {
  id: string;
  thread: string;
  run: string;
  toolCallId?: string;
  title: string;
  kind: string;
  options: RequestOption[];
  createdAt: string;
  expiresAt?: string;
  schema?: Record<string, unknown>;
};

export type Connection = "live" | "catching-up" | "offline";

export type Context = { used: number; size?: number; cost?: { amount: number; currency: string } };
