import { ResumableHttpAgent } from "@agentstream/client";
import { Observable } from "rxjs";
import { merge, type Event } from "./merge";
import { OncePerFrame } from "./frame";
import { watchedFetch } from "./connection";
import { onWake } from "./wake";

type Input = Parameters<ResumableHttpAgent["run"]>[0];
type Events = ReturnType<ResumableHttpAgent["run"]>;

/** Messages that the agent holds; older ones are paged in beside it. */
export const windowSize = 100;

/**
 * The agent of the open thread. It takes what came in a frame at once, deltas joined,
 * and shows each event to `see`, which keeps what concerns the page alone.
 */
export class PageAgent extends ResumableHttpAgent {
  /** Looks at each event before the client does; false keeps it from the client. */
  see: (e: Event) => boolean = () => true;
  /** Called when all that came in a frame has gone to the client. */
  applied: () => void = () => undefined;

  private wire = new AbortController();

  constructor(name: string, threadId: string) {
    super({
      url: `/agui/${encodeURIComponent(name)}?messages=${windowSize}`,
      base: "",
      threadId,
      fetch: (input: string | URL | Request, init?: RequestInit) => this.reach(input, init),
      maxTries: Number.MAX_SAFE_INTEGER,
    });
  }

  /** Drops connections that died unnoticed whenever the page wakes; the client goes on from its cursor. Gives a function that ends this. */
  stayAwake(): () => void {
    return onWake(() => {
      this.wire.abort();
      this.wire = new AbortController();
    });
  }

  private reach(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
    const { signal } = this.wire;
    return watchedFetch(input, { ...init, signal: init.signal ? AbortSignal.any([init.signal, signal]) : signal });
  }

  override run(input: Input): Events {
    return this.framed(super.run(input));
  }

  override connect(input: Input): Events {
    return this.framed(super.connect(input));
  }

  private framed(source: Events): Events {
    return new Observable((out) => {
      let waiting: Event[] = [];
      const flush = () => {
        const events = waiting;
        waiting = [];
        for (const e of merge(events)) if (this.see(e)) out.next(e as never);
        this.applied();
      };
      const frame = new OncePerFrame(flush);
      const inner = source.subscribe({
        next: (e) => {
          waiting.push(e as unknown as Event);
          frame.ask();
        },
        error: (e: unknown) => {
          frame.now();
          out.error(e);
        },
        complete: () => {
          frame.now();
          out.complete();
        },
      });
      return () => {
        frame.stop();
        inner.unsubscribe();
      };
    }) as unknown as Events;
  }
}
