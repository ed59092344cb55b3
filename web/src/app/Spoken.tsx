import { useEffect, useRef, useState, type ReactNode } from "react";
import type { ThreadState } from "../store/thread";

/** Tells those who listen that an answer began, what it was when it is done, and what is asked: once each, not each token. */
export function Spoken({ state }: { state: ThreadState }): ReactNode {
  const [said, setSaid] = useState("");
  const running = state.run !== undefined || state.starting;
  const was = useRef(running);
  const asked = state.pending.length;
  const wasAsked = useRef(asked);
  useEffect(() => {
    if (asked > wasAsked.current) setSaid(`The agent needs your answer: ${state.pending.at(-1)!.title}`);
    else if (running && !was.current) setSaid("The agent is answering.");
    else if (!running && was.current && asked === 0) {
      const last = state.turns.at(-1);
      const text = last?.role === "assistant" ? last.parts.filter((p) => p.type === "text").map((p) => p.text).join(" ") : "";
      const error = last?.parts.find((p) => p.type === "error");
      setSaid(error ? `The run failed: ${error.message}` : `The answer is complete. ${text.slice(0, 400)}`);
    }
    was.current = running;
    wasAsked.current = asked;
  }, [running, asked, state]);
  return <div className="visually-hidden" role="status" aria-live="polite">{said}</div>;
}
