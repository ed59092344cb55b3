import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { keepPlace, placeOf } from "../store/local";
import type { OpenThread, ThreadState } from "../store/thread";

const near = 60;

type Anchor = { turn: string; top: number };

/**
 * Follows the newest while the reader is at the end, stays put while they are not, and
 * finds their place again after a reload or when older pages come in above.
 */
export function useScroll(open: OpenThread, state: ThreadState) {
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const bottom = useRef(true);
  const anchor = useRef<Anchor | undefined>(undefined);
  const firstTurn = useRef("");
  const restored = useRef(false);
  const [away, setAway] = useState(false);

  const follow = useCallback(() => {
    const b = box.current;
    if (b && bottom.current) b.scrollTop = b.scrollHeight;
  }, []);

  const onScroll = useCallback(() => {
    const b = box.current!;
    bottom.current = b.scrollHeight - b.scrollTop - b.clientHeight < near;
    setAway(!bottom.current);
    anchor.current = bottom.current ? undefined : firstVisible(b);
    if (restored.current) keepPlace(open.id, { bottom: bottom.current, turn: anchor.current?.turn ?? "", top: anchor.current?.top ?? 0 });
    if (b.scrollTop < 300 && restored.current) void open.loadOlder();
  }, [open]);

  // The reader's place, once there is something to scroll.
  useLayoutEffect(() => {
    const b = box.current!;
    if (!restored.current && state.phase === "ready" && state.turns.length > 0) {
      restored.current = true;
      const place = placeOf(open.id);
      if (place && !place.bottom && hold(b, { turn: place.turn, top: place.top })) {
        bottom.current = false;
        setAway(true);
        // Turns that were never drawn have a guessed height: what was found moves as they are.
        requestAnimationFrame(() => hold(b, { turn: place.turn, top: place.top }));
        return;
      }
    }
    const first = state.turns[0]?.id ?? "";
    if (firstTurn.current && first !== firstTurn.current && anchor.current) hold(b, anchor.current);
    firstTurn.current = first;
    follow();
  }, [state.turns, state.phase, open, follow]);

  // Pictures, colours and folds change heights later.
  useEffect(() => {
    const watch = new ResizeObserver(follow);
    watch.observe(content.current!);
    watch.observe(box.current!);
    return () => watch.disconnect();
  }, [follow]);

  const toLatest = useCallback(() => {
    bottom.current = true;
    setAway(false);
    follow();
  }, [follow]);

  return { box, content, onScroll, away, toLatest };
}

function firstVisible(b: HTMLElement): Anchor | undefined {
  const edge = b.getBoundingClientRect().top;
  for (const el of b.querySelectorAll<HTMLElement>("[data-turn]")) {
    const r = el.getBoundingClientRect();
    if (r.bottom > edge) return { turn: el.dataset.turn!, top: r.top - edge };
  }
  return undefined;
}

/** Puts a turn back to where it stood. */
function hold(b: HTMLElement, a: Anchor): boolean {
  const el = [...b.querySelectorAll<HTMLElement>("[data-turn]")].find((x) => x.dataset.turn === a.turn);
  if (!el) return false;
  b.scrollTop += el.getBoundingClientRect().top - b.getBoundingClientRect().top - a.top;
  return true;
}
