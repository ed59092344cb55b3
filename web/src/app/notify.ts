import { requests } from "../store/requests";
import { Signal } from "../store/signal";
import { current, go } from "./current";

const offered = () => (typeof Notification === "function" ? Notification.permission : "denied");

/** Whether the browser may show notifications: asked for by a button, never by itself. */
export const permission = new Signal<NotificationPermission>("denied");

export async function askPermission(): Promise<void> {
  permission.set(await Notification.requestPermission());
}

/** Tells of new questions: in the title always, by a notification while the page is not seen. */
export function startNotifying(): void {
  permission.set(offered());
  let known = new Set<string>();
  const changed = () => {
    const list = requests.value;
    if (document.hidden && offered() === "granted") {
      for (const r of list) if (!known.has(r.id)) show(r.title, r.id, r.thread);
    }
    known = new Set(list.map((r) => r.id));
    titled();
  };
  requests.subscribe(changed);
  current.subscribe(() => {
    current.value?.state.subscribe(titled);
    titled();
  });
}

let badged = 0;

function titled(): void {
  const n = requests.value.length;
  const name = current.value?.state.value.thread?.title || (current.value ? "Thread" : "New thread");
  const title = (n > 0 ? `(${n}) needs you – ` : "") + name + " – agentstream";
  if (document.title !== title) document.title = title;
  if (n === badged) return;
  badged = n;
  const badge = (navigator as { setAppBadge?: (n: number) => Promise<void> }).setAppBadge;
  void badge?.call(navigator, n).catch(() => undefined);
}

function show(title: string, id: string, thread: string): void {
  try {
    const note = new Notification("An agent needs your answer", { body: title, tag: id, icon: "/icon.svg" });
    note.onclick = () => {
      window.focus();
      go(thread);
      note.close();
    };
  } catch {
    // Phones' browsers show notifications of service workers only.
  }
}
