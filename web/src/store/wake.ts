const sleepers = new Set<() => void>();

/** Calls `woken` when the network is back or the machine was asleep: what was connected then may be dead without knowing it. */
export function onWake(woken: () => void): () => void {
  sleepers.add(woken);
  return () => sleepers.delete(woken);
}

const step = 5000;

/** Begins to notice. A timer that comes much too late was asleep with the machine. */
export function startWaking(): void {
  const tell = () => {
    for (const woken of [...sleepers]) woken();
  };
  addEventListener("online", tell);
  let last = Date.now();
  setInterval(() => {
    const now = Date.now();
    // Pages in the background get a timer a minute at worst.
    if (now - last > 90_000) tell();
    last = now;
  }, step);
}
