import * as api from "../api";
import type { Context, PendingRequest, Turn } from "../model";
import { PageAgent, windowSize } from "./agent";
import { catchingUp } from "./connection";
import { Watcher } from "./facts";
import { OncePerFrame } from "./frame";
import { refreshRequests, requests } from "./requests";
import { Signal } from "./signal";
import { threads } from "./threads";
import { turnsOf } from "./turns";

export type Queued = { id: string; text: string };

export type ThreadState = {
  id: string;
  phase: "loading" | "ready" | "unknown" | "failed";
  error?: string;
  thread?: api.Thread;
  /** Older pages first, then what the agent holds. */
  turns: readonly Turn[];
  hasOlder: boolean;
  loadingOlder: boolean;
  /** The open run. */
  run: string | undefined;
  /** A run was asked for and its first event has not come. */
  starting: boolean;
  pending: readonly PendingRequest[];
  queue: readonly Queued[];
  context: Context | undefined;
  silence: number;
  /** The last run failed: it can be tried again. */
  failedRun: string | undefined;
};

/** One open thread: its agent, older pages, queue, and what can be done. Closed when another is opened. */
export class OpenThread {
  readonly state: Signal<ThreadState>;
  private agent: PageAgent | undefined;
  private watcher = new Watcher();
  private older: api.RawMessage[] = [];
  private olderTurns: readonly Turn[] = [];
  private liveTurns: readonly Turn[] = [];
  private stops: (() => void)[] = [];
  private closed = false;
  private publish = new OncePerFrame(() => this.show());
  private texts = new Map<string, string>();
  private dropped = new Set<string>();
  private lastRun: string | undefined;
  private watching = false;

  constructor(readonly id: string) {
    this.state = new Signal<ThreadState>({
      id, phase: "loading", turns: [], hasOlder: false, loadingOlder: false, run: undefined, starting: false,
      pending: [], queue: [], context: undefined, silence: 0, failedRun: undefined,
    });
    this.stops.push(requests.subscribe(() => this.publish.ask()));
  }

  async open(): Promise<void> {
    try {
      const thread = await api.thread(this.id);
      if (this.closed) return;
      this.patch({ thread });
      this.begin(thread.agent);
      void this.refresh();
      await this.join();
      if (this.closed) return;
      this.watch();
      await this.refresh();
    } catch (e) {
      if (this.closed) return;
      const unknown = e instanceof api.ApiError && e.status === 404;
      this.patch({ phase: unknown ? "unknown" : "failed", error: (e as Error).message });
    }
  }

  close(): void {
    this.closed = true;
    for (const stop of this.stops) stop();
    this.publish.stop();
    void this.agent?.detachActiveRun();
  }

  /** Says something: at once, or behind what runs or waits. It is said once, however often it is tried. */
  async send(agent: string, content: string | api.ContentPart[], more: { cwd?: string; parentRunId?: string; messageId?: string } = {}): Promise<void> {
    const { messageId, ...rest } = more;
    const message: api.RawMessage = { id: messageId ?? crypto.randomUUID(), role: "user", content };
    const runId = crypto.randomUUID();
    this.begin(agent);
    const at = this.agent!;
    const idle = this.state.value.run === undefined && this.state.value.pending.length === 0 && !this.state.value.starting;
    const shown = idle && !at.messages.some((m) => m.id === message.id);
    if (shown) at.addMessage(message as never);
    if (idle) this.patch({ starting: true, phase: "ready", failedRun: undefined });
    this.show();
    try {
      const run = await patiently(() => api.startRun(this.id, { agent, runId, input: [message], ...rest }));
      if (run.state === "queued") {
        if (shown) at.setMessages(at.messages.filter((m) => m.id !== message.id));
        this.texts.set(runId, preview(content));
        this.patch({ queue: [...this.state.value.queue, { id: runId, text: preview(content) }] });
      }
    } catch (e) {
      if (shown) at.setMessages(at.messages.filter((m) => m.id !== message.id));
      this.patch({ starting: false });
      this.show();
      throw e;
    }
    void threads.refresh();
    this.watch();
    void this.refresh();
    if (idle) void this.join().then(() => this.refresh());
  }

  /** Runs the last question again, as a run that goes on with the failed one. */
  async retry(): Promise<void> {
    const { thread, failedRun } = this.state.value;
    // The server knows what was said last before the failure; the page may have shown its own message before others that came.
    const held = (this.agent?.messages ?? []) as api.RawMessage[];
    const stored = await api.messages(this.id, windowSize, "").then((p) => p.messages, () => held);
    const last = [stored, held].map((list) => list.findLast((m) => m.role === "user")).find(Boolean);
    if (!thread || !last) return;
    await this.send(thread.agent, last.content as string | api.ContentPart[], { messageId: last.id, ...(failedRun ? { parentRunId: failedRun } : {}) });
  }

  /** Stops what runs, or the turn that waits for an answer. */
  async stop(): Promise<void> {
    const run = this.state.value.run ?? this.state.value.pending[0]?.run ?? this.lastRun;
    if (run) await api.cancelRun(this.id, run);
    void refreshRequests();
  }

  async unqueue(run: string): Promise<void> {
    await api.cancelRun(this.id, run);
    this.dropped.add(run);
    this.patch({ queue: this.state.value.queue.filter((q) => q.id !== run) });
  }

  async choose(patch: { mode?: string; model?: string; title?: string }): Promise<void> {
    const thread = await api.patchThread(this.id, patch);
    this.patch({ thread });
    threads.put(thread);
  }

  async loadOlder(): Promise<void> {
    const s = this.state.value;
    const first = this.older[0] ?? (this.agent?.messages[0] as api.RawMessage | undefined);
    if (!s.hasOlder || s.loadingOlder || !first) return;
    this.patch({ loadingOlder: true });
    try {
      const page = (await api.messages(this.id, windowSize, first.id)).messages;
      this.older = [...page, ...this.older];
      this.patch({ hasOlder: page.length >= windowSize, loadingOlder: false });
      this.showOlder();
    } catch {
      this.patch({ loadingOlder: false });
    }
  }

  private begin(name: string): void {
    if (this.agent) return;
    const agent = new PageAgent(name, this.id);
    agent.see = (e) => {
      if (e.type === "RUN_STARTED") this.lastRun = String(e.runId);
      if (e.type === "MESSAGES_SNAPSHOT") this.restated(e.messages as api.RawMessage[]);
      return this.watcher.see(e);
    };
    agent.applied = () => {
      this.patch({ starting: false }); // whoever joined it: this page's send, or what watches
      this.publish.ask();
    };
    agent.subscribe({ onMessagesChanged: () => this.publish.ask() });
    this.stops.push(agent.stayAwake());
    this.agent = agent;
  }

  /** Joins what runs, or ran last, and stays to its end. */
  private async join(): Promise<void> {
    const agent = this.agent!;
    if (agent.isRunning) return;
    catchingUp(1);
    let first = true;
    const done = () => {
      if (first) catchingUp(-1);
      first = false;
    };
    const { applied } = agent;
    agent.applied = () => {
      done();
      this.patch({ phase: "ready", starting: false });
      applied();
    };
    try {
      await agent.connectAgent();
    } finally {
      agent.applied = applied;
      done();
      this.patch({ phase: "ready", starting: false });
      this.trim();
      this.publish.ask();
    }
  }

  private watch(): void {
    if (this.watching || this.closed) return;
    this.watching = true;
    const stop = this.agent!.watch();
    const { unsubscribe } = this.agent!.subscribe({
      onRunFinalized: () => {
        void this.refresh();
      },
    });
    this.stops.push(stop, unsubscribe);
  }

  /** Older pages that a snapshot does not adjoin have a gap behind them: they are loaded again when asked for. */
  private restated(list: api.RawMessage[]): void {
    const held = this.agent?.messages[0]?.id;
    if (this.older.length === 0 || list.some((m) => m.id === held)) return;
    this.older = [];
    this.olderTurns = [];
    this.patch({ hasOlder: true });
  }

  /** What only the thread object and the list of runs tell. */
  private async refresh(): Promise<void> {
    if (this.closed) return;
    this.trim();
    void refreshRequests();
    void threads.refresh();
    await this.sync();
  }

  /** Reads the thread object and the queue: another device may have changed them. */
  async sync(): Promise<void> {
    if (this.closed || !this.agent) return;
    try {
      const [thread, runs] = await Promise.all([api.thread(this.id), api.runs(this.id)]);
      if (this.closed) return;
      const queue = runs.filter((r) => r.state === "queued" && !this.dropped.has(r.id)).map((r) => ({ id: r.id, text: this.texts.get(r.id) ?? r.prompt ?? "" }));
      const last = thread.lastRun;
      this.patch({ thread, queue, failedRun: last && (last.state === "failed" || last.state === "lost") ? last.id : undefined });
    } catch (e) {
      if (e instanceof api.ApiError && e.code === "thread_unknown") this.patch({ phase: "unknown" });
    }
  }

  /** Keeps the agent's window; what leaves it stays on the page. A result stays with its call. */
  private trim(): void {
    const agent = this.agent;
    if (!agent || agent.isRunning) return;
    const { messages } = agent;
    let cut = messages.length - windowSize;
    while (cut > 0 && messages[cut]?.role === "tool") cut--;
    if (cut > 0) {
      const known = new Set(this.older.map((m) => m.id));
      const gone = (messages.slice(0, cut) as api.RawMessage[]).filter((m) => !known.has(m.id));
      if (this.state.value.hasOlder || this.older.length > 0) this.older = [...this.older, ...gone];
      else this.older = gone;
      agent.setMessages(messages.slice(cut));
      this.showOlder();
    } else if (this.older.length === 0 && messages.length >= windowSize && !this.state.value.hasOlder) {
      this.patch({ hasOlder: true });
    }
  }

  private showOlder(): void {
    this.olderTurns = turnsOf(this.older, undefined, undefined, this.olderTurns);
    this.show();
  }

  private show(): void {
    if (this.closed) return;
    const facts = this.watcher.facts;
    const pending = requests.value.filter((r) => r.thread === this.id);
    const before = this.state.value;
    const shown = new Set(this.older.map((m) => m.id));
    const window = ((this.agent?.messages ?? []) as api.RawMessage[]).filter((m) => !shown.has(m.id));
    this.liveTurns = turnsOf(window, facts, pending, this.liveTurns);
    const turns = this.olderTurns.length > 0 ? [...this.olderTurns, ...this.liveTurns] : this.liveTurns;
    const same = turns.length === before.turns.length && turns.every((t, i) => t === before.turns[i]);
    const queue = facts.run !== undefined && before.queue.some((q) => q.id === facts.run) ? before.queue.filter((q) => q.id !== facts.run) : before.queue;
    this.patch({
      turns: same ? before.turns : turns,
      run: facts.run, queue, context: facts.context ?? before.context, silence: facts.silence,
      pending: pending.length === before.pending.length && pending.every((p, i) => p === before.pending[i]) ? before.pending : pending,
    });
  }

  private patch(change: Partial<ThreadState>): void {
    const before = this.state.value;
    const changed = (Object.keys(change) as (keyof ThreadState)[]).some((key) => !Object.is(change[key], before[key]));
    if (changed && !this.closed) this.state.set({ ...before, ...change });
  }
}

function preview(content: string | api.ContentPart[]): string {
  return typeof content === "string" ? content : content.map((p) => p.text ?? p.filename ?? "").filter(Boolean).join(" ");
}

/** Tries twice more when the server cannot be reached: the run id makes that harmless. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (e) {
      if (tries === 3 || !(e instanceof api.ApiError) || e.status !== 0) throw e;
      await new Promise((go) => setTimeout(go, 400 * tries));
    }
  }
}
