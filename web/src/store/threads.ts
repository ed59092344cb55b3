import * as api from "../api";
import { Signal } from "./signal";

export type ThreadList = { threads: readonly api.Thread[]; next: string | undefined; phase: "loading" | "ready" | "failed"; error?: string };

/** The list of threads. It is asked for anew when the feed says that something changed; see feed.ts. */
export class Threads {
  readonly list = new Signal<ThreadList>({ threads: [], next: undefined, phase: "loading" });
  readonly query = new Signal("");
  private pages = 1;
  private asking = false;
  private again = false;

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
      if (this.again) {
        this.again = false;
        void this.refresh();
      }
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
