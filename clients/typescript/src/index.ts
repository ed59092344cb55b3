import { HttpAgent } from "@ag-ui/client";
import { Observable } from "rxjs";
import { frames } from "./frames.js";
import { Open, type AnyEvent } from "./open.js";

type Input = Parameters<HttpAgent["run"]>[0];
type Events = ReturnType<HttpAgent["run"]>;
type Config = ConstructorParameters<typeof HttpAgent>[0];
type RunParameters = Parameters<HttpAgent["runAgent"]>[0];
type Subscriber = Parameters<HttpAgent["runAgent"]>[1];
type Result = Awaited<ReturnType<HttpAgent["runAgent"]>>;

export interface ResumableConfig extends Config {
  /** The server's root, for cancelling and watching. Default: `url` up to `/agui/`. */
  base?: string;
  /** A new user message cancels questions that wait. Default true. */
  cancelPending?: boolean;
  /** Tries without progress before a stream is given up. Default 8. */
  maxTries?: number;
  /** Milliseconds before the first new try; each next one waits twice as long, 8 s at most. Default 250. */
  retryDelay?: number;
  /** Milliseconds without a byte that count as a cut. Default 45 s, three heartbeats. */
  idle?: number;
}

/** A refusal of the server, with its stable code. */
export class RefusedError extends Error {
  constructor(readonly status: number, readonly code: string, message: string, readonly retryAfter = 0) {
    super(message);
  }
}

/**
 * An HttpAgent whose runs survive cut connections: it goes on from the last cursor,
 * delivers each event once, and completes at the run's end. `connectAgent` joins what
 * runs, or ran last, on the thread; `watch` does so whenever somebody else's run begins.
 */
export class ResumableHttpAgent extends HttpAgent {
  base: string;
  cancelPending: boolean;
  maxTries: number;
  retryDelay: number;
  idle: number;
  /**
   * The next run attaches to what runs instead of starting something. A run that brings a
   * new user message or answers a question is not that one, however they overlap.
   */
  attachNext = false;

  private cursor = "";
  private atEnd = false;
  private cursorThread = "";
  private said = new Set<string>(); // ids of user messages that the server has
  private current?: { threadId: string; runId: string; abort: (grace: number) => void };

  constructor(config: ResumableConfig) {
    super(config);
    this.base = config.base ?? this.url.split("/agui/")[0] ?? "";
    this.cancelPending = config.cancelPending ?? true;
    this.maxTries = config.maxTries ?? 8;
    this.retryDelay = config.retryDelay ?? 250;
    this.idle = config.idle ?? 45_000;
  }

  override run(input: Input): Events {
    const last = input.messages.at(-1);
    const brings = (last?.role === "user" && !this.said.has(last.id)) || input.resume?.some((r) => r.status === "resolved");
    const attach = this.attachNext && !brings;
    if (attach) this.attachNext = false;
    return this.stream(input, attach, ""); // such hosts take what others said from a snapshot alone
  }

  /** Joins the thread: a prelude of all there is, then what comes, to the run's end. */
  override connect(input: Input): Events {
    // A verifier must see RUN_STARTED first: the old cursor serves only behind a terminal.
    return this.stream(input, true, this.atEnd ? this.cursor : "");
  }

  override async runAgent(parameters?: RunParameters, subscriber?: Subscriber): Promise<Result> {
    this.enter();
    const resume = [...(parameters?.resume ?? [])];
    const covered = new Set(resume.map((r) => r.interruptId));
    if (this.cancelPending && this.messages.at(-1)?.role === "user") {
      for (const i of this.pendingInterrupts) if (!covered.has(i.id)) resume.push({ interruptId: i.id, status: "cancelled" });
    }
    let failed = false;
    const own: Subscriber = { onRunErrorEvent: () => { failed = true; } };
    const off = this.subscribe(own);
    try {
      return await super.runAgent(resume.length ? { ...parameters, resume } : parameters, subscriber);
    } finally {
      off.unsubscribe();
      // Only RUN_FINISHED clears them in the base class, and a run that answered them has failed.
      if (failed && resume.length) this.pendingInterrupts = [];
    }
  }

  override async connectAgent(parameters?: RunParameters, subscriber?: Subscriber): Promise<Result> {
    this.enter();
    this.pendingInterrupts = []; // the base class refuses to connect with any
    return super.connectAgent(parameters, subscriber);
  }

  /** Cancels the run on the server and reads on for its real end, two seconds at most. */
  override abortRun(): void {
    const now = this.current;
    if (!now) return super.abortRun();
    const path = `/v1/runs/${encodeURIComponent(now.runId)}/cancel?threadId=${encodeURIComponent(now.threadId)}`;
    this.request(this.base + path, { method: "POST", keepalive: true }).catch(() => undefined);
    now.abort(2000);
  }

  /**
   * Follows other people's runs while this agent is at rest: when something was said on
   * the thread, it connects, or does what `join` does instead, for a host whose runs are
   * begun by itself. Gives a function that stops it.
   */
  watch(onError: (e: unknown) => void = () => undefined, join: () => unknown = () => this.connectAgent()): () => void {
    const stop = new AbortController();
    void this.watching(stop.signal, onError, join);
    return () => stop.abort();
  }

  override clone(): ResumableHttpAgent {
    const copy = super.clone() as ResumableHttpAgent;
    for (const key of ["base", "cancelPending", "maxTries", "retryDelay", "idle", "attachNext", "cursor", "atEnd", "cursorThread"] as const) {
      (copy as unknown as Record<string, unknown>)[key] = this[key];
    }
    copy.said = new Set(this.said);
    copy.current = undefined;
    return copy;
  }

  /** What is known of another thread counts for nothing on this one. */
  private enter(): void {
    if (this.cursorThread && this.cursorThread !== this.threadId) {
      this.pendingInterrupts = [];
      this.cursor = "";
      this.atEnd = false;
    }
    this.cursorThread = this.threadId;
  }

  private stream(input: Input, attach: boolean, at: string): Events {
    return new Observable<AnyEvent>((out) => {
      const abort = new AbortController();
      let timer: ReturnType<typeof setTimeout> | undefined;
      const now = {
        threadId: input.threadId,
        runId: input.runId, // until the stream names the run that was joined
        abort: (grace: number) => {
          timer ??= setTimeout(() => {
            out.next({ type: "RUN_ERROR", message: "The run was aborted", code: "abort" });
            out.complete();
            abort.abort();
          }, grace);
        },
      };
      this.current = now;
      const deliver = (e: AnyEvent) => {
        if (e.type === "RUN_STARTED") now.runId = String(e.runId);
        const messages = (e.type === "RUN_STARTED" ? (e.input as { messages?: unknown })?.messages : e.messages) as { id: string; role: string }[] | undefined;
        for (const m of messages ?? []) if (m.role === "user") this.said.add(m.id);
        out.next(e);
      };
      this.pump(input, attach, at, abort.signal, deliver)
        .then(() => out.complete(), (e: unknown) => { if (!abort.signal.aborted) out.error(e); })
        .finally(() => { clearTimeout(timer); if (this.current === now) this.current = undefined; });
      return () => { clearTimeout(timer); abort.abort(); };
    }) as unknown as Events;
  }

  /** Reads one run to its terminal event, through cuts. */
  private async pump(input: Input, attach: boolean, at: string, signal: AbortSignal, deliver: (e: AnyEvent) => void): Promise<void> {
    const open = new Open();
    let going = false; // an id of this run has come
    let splice = false;
    for (let tries = 0; ; ) {
      try {
        const response = going || attach || splice ? await this.attach(input, at, splice, signal) : await this.post(input, signal);
        let held: AnyEvent[] = [];
        for await (const frame of frames(response.body!, this.idle)) {
          const e = JSON.parse(frame.data) as AnyEvent;
          if (frame.id && at && !splice && frame.id <= at && frame.id.slice(0, 8) === at.slice(0, 8)) {
            held = [];
            continue; // seen before
          }
          held.push(e);
          const terminal = e.type === "RUN_FINISHED" || e.type === "RUN_ERROR";
          if (!frame.id && !terminal) continue; // made for this reader: whole or not at all
          for (const each of splice ? open.splice(held) : held) {
            open.see(each);
            deliver(each);
          }
          held = [];
          splice = false;
          tries = 0;
          if (frame.id) {
            at = this.cursor = frame.id;
            going = true;
          }
          this.atEnd = terminal;
          if (terminal) return;
        }
        if (attach && !going && held.length === 0) return; // nothing runs, nothing ran
      } catch (e) {
        if (signal.aborted) throw e;
        if (e instanceof RefusedError) {
          if (e.status === 410) {
            splice = going;
            at = "";
            attach = true;
          } else if (e.status < 500 && e.status !== 429) throw e;
          else await pause(e.retryAfter * 1000, signal);
        }
        if (tries >= this.maxTries) throw new Error(`the stream broke off and could not be resumed: ${(e as Error).message}`, { cause: e });
      }
      if (signal.aborted) throw new Error("aborted");
      if (++tries > this.maxTries) throw new Error("the stream broke off and could not be resumed");
      await pause(Math.min(this.retryDelay * 2 ** (tries - 1), 8000) * (0.5 + Math.random() / 2), signal);
    }
  }

  private post(input: Input, signal: AbortSignal): Promise<Response> {
    return this.request(this.url, { ...this.requestInit(input), signal });
  }

  private attach(input: Input, at: string, snapshot: boolean, signal: AbortSignal): Promise<Response> {
    const url = new URL(this.url, globalThis.location?.href);
    url.searchParams.set("threadId", input.threadId);
    const version = (input as { protocolVersion?: string }).protocolVersion;
    if (version) url.searchParams.set("protocolVersion", version);
    if (snapshot) url.searchParams.set("prelude", "snapshot");
    const headers: Record<string, string> = { Accept: "text/event-stream" };
    if (at) headers["Last-Event-ID"] = at;
    return this.request(url.href, { headers, signal });
  }

  private async request(url: string, init: RequestInit): Promise<Response> {
    const response = await this.fetch(url, { ...init, headers: { ...this.headers, ...(init.headers as Record<string, string>) } });
    if (response.ok) return response;
    const text = await response.text().catch(() => "");
    let problem: { code?: string; detail?: string } = {};
    try { problem = JSON.parse(text) as typeof problem; } catch { /* a proxy's page */ }
    throw new RefusedError(response.status, problem.code ?? "", `HTTP ${response.status}: ${problem.detail ?? text.slice(0, 200)}`, Number(response.headers.get("Retry-After")) || 0);
  }

  private async watching(signal: AbortSignal, onError: (e: unknown) => void, join: () => unknown): Promise<void> {
    let after = "";
    for (let wait = 250; !signal.aborted; ) {
      try {
        if (this.isRunning) {
          await pause(250, signal);
          after = this.cursor;
          continue;
        }
        if (this.cursorThread === this.threadId && this.cursor > after) after = this.cursor;
        const query = new URLSearchParams({ wait: "25s", ...(after ? { after } : {}) });
        const response = await this.request(`${this.base}/v1/threads/${encodeURIComponent(this.threadId)}/events?${query}`, { signal });
        const news = (await response.json()) as { events: unknown[]; cursor: string };
        const known = this.cursor;
        if (news.events.length && news.cursor > known && !this.isRunning && !signal.aborted) {
          await join();
          // A host begins its run when it has rendered; asked again before, it would begin a second one.
          for (let i = 0; i < 100 && !this.isRunning && this.cursor < news.cursor; i++) await pause(50, signal);
          if (!this.isRunning && this.cursor === known) { // what was told of did not come: it is asked for again
            await pause(wait, signal);
            wait = Math.min(wait * 2, 8000);
            continue;
          }
        }
        // News that came while a run was read count as heard only when that run had them.
        after = news.events.length || this.cursor > news.cursor ? this.cursor : news.cursor;
        wait = 250;
      } catch (e) {
        if (signal.aborted) return;
        if (e instanceof RefusedError && e.status === 410) after = "";
        onError(e);
        await pause(wait, signal).catch(() => undefined);
        wait = Math.min(wait * 2, 8000);
      }
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((yes, no) => {
    if (signal.aborted) return no(new Error("aborted"));
    const timer = setTimeout(() => { signal.removeEventListener("abort", stop); yes(); }, ms);
    const stop = () => { clearTimeout(timer); no(new Error("aborted")); };
    signal.addEventListener("abort", stop, { once: true });
  });
}
