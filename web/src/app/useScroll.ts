import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { keepPlace, placeOf } from "../store/local";
import type { OpenThread, ThreadState } from "../store/thread";

const near = 60;
/** Frames in which turns that were never drawn, and have a guessed height, find their own. */
const settleFrames = 8;

type Anchor = { turn: string; top: number };

/**
 * Follows the newest while the reader is at the end, stays put while they are not, and
 * finds their place again after a reload or when older pages come in above.
 */
export function useScroll(open: OpenThread, state: ThreadState) {
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const [away, setAway] = useState(false);
  const place = useRef({ bottom: true, anchor: undefined as Anchor | undefined, first: "", restored: false, settling: false, handled: 0, top: 0, height: 0, view: 0 });
  const ready = state.phase === "ready";

  /** After anything that changed what is shown, or how high it is. */
  const changed = useCallback(() => {
    const b = box.current;
    const p = place.current;
    const first = b?.querySelector<HTMLElement>("[data-turn]")?.dataset.turn ?? "";
    if (!b || first === "") return;
    if (!p.restored && ready) {
      p.restored = true;
      const kept = placeOf(open.id);
      if (kept && !kept.bottom && hold(b, kept)) {
        p.bottom = false;
        p.settling = true;
        setAway(true);
        settle(b, kept, settleFrames, () => {
          p.settling = false;
          note(b, p);
          p.anchor = firstVisible(b);
        });
      }
    }
    if (p.first !== "" && first !== p.first && p.anchor && !p.bottom) hold(b, p.anchor);
    p.first = first;
    if (p.bottom) b.scrollTop = b.scrollHeight;
  }, [open, ready]);

  const onScroll = useCallback(() => {
    const b = box.current!;
    const p = place.current;
    if (p.settling) return;
    // Content that changes height scrolls as well, and events come late: only what a reader did counts as leaving the end.
    const still = p.height === b.scrollHeight && p.view === b.clientHeight;
    if (b.scrollHeight - b.scrollTop - b.clientHeight < near) p.bottom = true;
    else if (b.scrollTop < p.top - 1 && (still || performance.now() - p.handled < 1000)) p.bottom = false;
    note(b, p);
    setAway(!p.bottom);
    p.anchor = p.bottom ? undefined : firstVisible(b);
    if (!p.restored) return;
    keepPlace(open.id, { bottom: p.bottom, turn: p.anchor?.turn ?? "", top: p.anchor?.top ?? 0 });
    if (!p.bottom && b.scrollTop < 300) void open.loadOlder();
  }, [open]);

  useLayoutEffect(changed, [changed, state.turns]);

  // Who is at the very top makes no more scrolling, and still wants what is older.
  useEffect(() => {
    const b = box.current;
    if (b && state.hasOlder && !state.loadingOlder && !place.current.bottom && b.scrollTop < 300) void open.loadOlder();
  }, [open, state.hasOlder, state.loadingOlder, state.turns]);

  // Pictures, colours and folds change heights later.
  useEffect(() => {
    const b = box.current!;
    const watch = new ResizeObserver(changed);
    watch.observe(content.current!);
    watch.observe(b);
    return () => watch.disconnect();
  }, [changed]);

  useEffect(() => {
    const b = box.current!;
    const touched = () => {
      place.current.handled = performance.now();
    };
    const kinds = ["wheel", "touchmove", "pointerdown", "keydown"];
    for (const kind of kinds) b.addEventListener(kind, touched, { passive: true });
    return () => {
      for (const kind of kinds) b.removeEventListener(kind, touched);
    };
  }, []);

  const toLatest = useCallback(() => {
    place.current.bottom = true;
    setAway(false);
    changed();
  }, [changed]);

  // Whoever says something wants to see the answer.
  const { starting } = state;
  useEffect(() => {
    if (starting) toLatest();
  }, [starting, toLatest]);

  return { box, content, onScroll, away, toLatest };
}

function note(b: HTMLElement, p: { top: number; height: number; view: number }): void {
  p.top = b.scrollTop;
  p.height = b.scrollHeight;
  p.view = b.clientHeight;
}

function firstVisible(b: HTMLElement): Anchor | undefined {
  const edge = b.getBoundingClientRect().top;
  for (const el of b.querySelectorAll<HTMLElement>("[data-turn]")) {
    const r = el.getBoundingClientRect();
    if (r.bottom > edge) return { turn: el.dataset.turn!, top: r.top - edge };
  }
  return undefined;
}

function settle(b: HTMLElement, a: Anchor, frames: number, done: () => void): void {
  requestAnimationFrame(() => {
    hold(b, a);
    if (frames > 1 && b.isConnected) settle(b, a, frames - 1, done);
    else done();
  });
}

/** Puts a turn back to where it stood. */
function hold(b: HTMLElement, a: Anchor): boolean {
  const el = [...b.querySelectorAll<HTMLElement>("[data-turn]")].find((x) => x.dataset.turn === a.turn);
  if (!el) return false;
  b.scrollTop += el.getBoundingClientRect().top - b.getBoundingClientRect().top - a.top;
  return true;
}
