import { useSyncExternalStore } from "react";

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let now = Date.now();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const l of listeners) l();
  }, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

const still = () => () => undefined;

/** The time in milliseconds, every second while running; one clock for all who look at it. */
export function useNow(running: boolean): number {
  return useSyncExternalStore(running ? subscribe : still, () => (running && timer === undefined ? (now = Date.now()) : now));
}
