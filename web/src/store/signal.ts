import { useSyncExternalStore } from "react";

/** A value that components follow. Setting an equal value tells nobody. */
export class Signal<T> {
  private followers = new Set<() => void>();

  constructor(private current: T) {}

  get value(): T {
    return this.current;
  }

  set(value: T): void {
    if (Object.is(value, this.current)) return;
    this.current = value;
    for (const follow of [...this.followers]) follow();
  }

  update(change: (value: T) => T): void {
    this.set(change(this.current));
  }

  readonly subscribe = (follow: () => void): (() => void) => {
    this.followers.add(follow);
    return () => this.followers.delete(follow);
  };

  readonly get = (): T => this.current;
}

export function useSignal<T>(signal: Signal<T>): T {
  return useSyncExternalStore(signal.subscribe, signal.get);
}
