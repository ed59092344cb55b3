import { threads } from "../store/threads";
import { current, go } from "./current";
import { letters } from "./dialogs";
import { complain } from "./toast";

const focus = (selector: string): boolean => {
  const el = document.querySelector<HTMLElement>(selector);
  el?.focus();
  el?.scrollIntoView({ block: "nearest" });
  return el !== null;
};

function step(by: number): void {
  const list = threads.list.value.threads;
  const at = list.findIndex((t) => t.id === current.value?.id);
  const next = list[at < 0 ? 0 : at + by];
  if (next) go(next.id);
}

const actions: Record<string, () => void> = {
  KeyS: () => void current.value?.stop().catch(complain),
  KeyA: () => {
    if (focus(".log .approval")) return;
    const tray = document.querySelector<HTMLElement>(".tray-head");
    if (tray?.getAttribute("aria-expanded") === "false") tray.click();
    requestAnimationFrame(() => focus(".tray .approval"));
  },
  KeyM: () => focus(".composer textarea"),
  KeyC: () => focus(".log"),
  KeyN: () => {
    go("");
    requestAnimationFrame(() => focus(".composer textarea"));
  },
  ArrowUp: () => step(-1),
  ArrowDown: () => step(1),
};

/** Shortcuts of the whole page. Those of one letter can be turned off (WCAG 2.1.4). */
export function startKeys(help: () => void): () => void {
  const onKey = (e: KeyboardEvent) => {
    if (e.defaultPrevented || e.isComposing || document.querySelector("dialog[open]")) return;
    if (e.altKey && !e.ctrlKey && !e.metaKey) {
      const action = e.code === "KeyH" ? help : actions[e.code];
      if (!action) return;
      e.preventDefault();
      action();
    } else if (e.key === "?" && letters.value && !(e.target as HTMLElement).closest("input, textarea, select, [contenteditable]")) {
      e.preventDefault();
      help();
    }
  };
  addEventListener("keydown", onKey);
  return () => removeEventListener("keydown", onKey);
}
