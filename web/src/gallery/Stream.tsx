import { useEffect, useState, type ReactNode } from "react";
import { TurnView } from "../message";
import { markdown } from "./data";

const plain = markdown.replace("```mermaid", "```");
const before = plain.repeat(600);

/** An answer that grows by a few characters each frame after a megabyte of text. */
export function Stream(): ReactNode {
  const [length, grow] = useState(0);
  useEffect(() => {
    const frame = requestAnimationFrame(() => grow((n) => (n + 8) % (plain.length * 10)));
    return () => cancelAnimationFrame(frame);
  }, [length]);
  const text = before + plain.repeat(1 + Math.floor(length / plain.length)).slice(0, length);
  return (
    <main className="gallery">
      <TurnView turn={{ id: "s", role: "assistant", parts: [{ type: "text", id: "s", text, streaming: true }] }} />
    </main>
  );
}
