import * as api from "../api";
import { Signal } from "./signal";
import { onWake } from "./wake";

export type ThreadList = { threads: readonly api.Thread[]; next: string | undefined; phase: "loading" | "ready" | "failed"; error?: string };

/** The list of threads and who keeps it new. It asks when something happened, and every few seconds while it is seen. */
export class Threads {
  readonly list = new Signal<ThreadList>({ threads: [], next: undefined, phase: "loading" });
  readonly query = new Signal("");
  private pages = 1;
  private asking = false;
  private again = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  start(): void {
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) void this.refresh();
    });
    onWake(() => void this.refresh());
    void this.refresh();
  }

  search(q: string): void {
    this.query.set(q);
    this.pages = 1;
    void this.refresh();
  }

  more(): void {
    this.pages++;
    void this.refresh();
  }

  async refresh(): Promise<void> {
    if (this.asking) {
      this.again = true;
      return;
    }
    this.asking = true;
    clearTimeout(this.timer);
    try {
      const q = this.query.value;
      const threads: api.Thread[] = [];
      let next: string | undefined;
      for (let page = 0; page < this.pages; page++) {
        const got = await api.threads({ limit: 50, q, ...(next ? { before: next } : {}) });
        threads.push(...got.threads);
        next = got.next;
        if (!next) break;
      }
      if (q === this.query.value) this.set({ threads, next, phase: "ready" });
    } catch (e) {
      const error = (e as Error).message;
      this.list.update((l) => (l.phase === "ready" ? l : { ...l, phase: "failed", error }));
    } finally {
      this.asking = false;
      const soon = this.again;
      this.again = false;
      this.timer = setTimeout(() => {
        if (!document.hidden) void this.refresh();
      }, soon ? 0 : this.busy() ? 2500 : 8000);
    }
  }

  /** Takes a newer form of a thread, or one that the server will list next time. */
  put(thread: api.Thread): void {
    this.list.update((l) => ({ ...l, threads: l.threads.some((t) => t.id === thread.id) ? l.threads.map((t) => (t.id === thread.id ? thread : t)) : [thread, ...l.threads] }));
  }

  async remove(id: string, force: boolean): Promise<void> {
    await api.deleteThread(id, force);
    this.list.update((l) => ({ ...l, threads: l.threads.filter((t) => t.id !== id) }));
  }

  async rename(id: string, title: string): Promise<void> {
    this.put(await api.patchThread(id, { title }));
  }

  private busy(): boolean {
    return this.list.value.threads.some((t) => t.state !== "idle");
  }

  private set(next: ThreadList): void {
    if (JSON.stringify(next) !== JSON.stringify(this.list.value)) this.list.set(next);
  }
}

export const threads = new Threads();

/** The agents of this server; empty until they are known. */
export const agents = new Signal<readonly api.Agent[]>([]);

export async function refreshAgents(): Promise<void> {
  try {
    agents.set(await api.agents());
  } catch {
    // The connection says so.
  }
}
