import { useEffect, useRef, useState, useSyncExternalStore, type ReactNode } from "react";
import type { Drawing, Order } from "./diagram.worker";
import { ImageView } from "./MediaView";

/** A drawing that takes longer is given up, in milliseconds. */
const PATIENCE = 8000;

let worker: Worker | undefined;
let orders = 0;
const waiting = new Map<number, (svg: string | null) => void>();

function draw(code: string, fg: string, bg: string): Promise<string | null> {
  worker ??= begin();
  const id = ++orders;
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      // It may never come back: the next drawing gets another worker.
      worker?.terminate();
      worker = undefined;
      for (const [, answer] of waiting) answer(null);
      waiting.clear();
    }, PATIENCE);
    waiting.set(id, (svg) => {
      clearTimeout(timer);
      resolve(svg);
    });
    worker!.postMessage({ id, code, fg, bg } satisfies Order);
  });
}

function begin(): Worker {
  const w = new Worker(new URL("./diagram.worker.ts", import.meta.url), { type: "module" });
  w.addEventListener("message", (e: MessageEvent<Drawing>) => {
    waiting.get(e.data.id)?.(e.data.svg);
    waiting.delete(e.data.id);
  });
  w.addEventListener("error", () => {
    for (const [, answer] of waiting) answer(null);
    waiting.clear();
  });
  return w;
}

/** A Mermaid diagram as a picture; fallback until it is drawn, and where it cannot be. */
export default function Diagram({ code, fallback }: { code: string; fallback: ReactNode }): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const [svg, setSvg] = useState<string | null>(null);
  const theme = useSyncExternalStore(watchTheme, themeNow);
  useEffect(() => {
    let gone = false;
    const style = getComputedStyle(box.current!);
    void draw(code, style.color, style.backgroundColor).then((s) => {
      if (!gone) setSvg(s);
    });
    return () => {
      gone = true;
    };
  }, [code, theme]);
  return (
    <div ref={box} className="diagram-box">
      {svg?.startsWith("<svg") ? (
        <div className="diagram">
          <ImageView src={`data:image/svg+xml;utf8,${encodeURIComponent(svg)}`} name="the diagram" alt={`Diagram of: ${code.slice(0, 500)}`} />
        </div>
      ) : (
        fallback
      )}
    </div>
  );
}

const dark = () => matchMedia("(prefers-color-scheme: dark)");

function themeNow(): string {
  return `${document.documentElement.dataset.theme ?? ""} ${dark().matches}`;
}

function watchTheme(changed: () => void): () => void {
  const media = dark();
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  media.addEventListener("change", changed);
  return () => {
    observer.disconnect();
    media.removeEventListener("change", changed);
  };
}
