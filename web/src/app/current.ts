import type { ContentPart } from "../api";
import { Signal } from "../store/signal";
import { OpenThread } from "../store/thread";

/** The open thread; none is the page that begins one. */
export const current = new Signal<OpenThread | undefined>(undefined);

const path = (id: string) => (id ? "/t/" + encodeURIComponent(id) : "/");

function idOf(pathname: string): string {
  const m = /^\/t\/([^/]+)\/?$/.exec(pathname);
  try {
    return m ? decodeURIComponent(m[1]!) : "";
  } catch {
    return "";
  }
}

function adopt(next: OpenThread | undefined): void {
  current.value?.close();
  current.set(next);
}

function enter(id: string): void {
  if ((current.value?.id ?? "") === id) return;
  const next = id ? new OpenThread(id) : undefined;
  adopt(next);
  void next?.open();
}

/** Opens a thread, or with "" the page that begins one. */
export function go(id: string): void {
  if (idOf(location.pathname) !== id || location.pathname !== path(id)) history.pushState(null, "", path(id));
  enter(id);
}

/** Opens the same thread anew, after a failure. */
export function reopen(): void {
  const id = current.value?.id ?? "";
  adopt(undefined);
  enter(id);
}

/** Begins a thread with what is said in it; it is open once the server has it. */
export async function begin(agent: string, cwd: string, content: string | ContentPart[]): Promise<void> {
  const id = "t-" + Array.from(crypto.getRandomValues(new Uint8Array(10)), (b) => b.toString(16).padStart(2, "0")).join("");
  const next = new OpenThread(id);
  try {
    await next.send(agent, content, cwd ? { cwd } : {});
  } catch (e) {
    next.close();
    throw e;
  }
  history.pushState(null, "", path(id));
  adopt(next);
}

export function startRouting(): void {
  addEventListener("popstate", () => enter(idOf(location.pathname)));
  // The first page linked to threads by their fragment.
  const old = decodeURIComponent(location.hash.slice(1));
  if (old && location.pathname === "/") history.replaceState(null, "", path(old));
  enter(idOf(location.pathname));
}
