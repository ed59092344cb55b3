import { useEffect, useState } from "react";
import * as api from "../api";

export type Suggestion = { insert: string; label: string; detail?: string };
export type Found = { kind: "command" | "file"; from: number; to: number; items: Suggestion[] };

/** What is being typed at the caret: a command at the very start, a file anywhere. */
export function wordAt(text: string, caret: number): { kind: "command" | "file"; from: number; word: string } | undefined {
  const before = text.slice(0, caret);
  const command = /^\/(\S*)$/.exec(before);
  if (command) return { kind: "command", from: 0, word: command[1]! };
  const file = /(?:^|\s)@([^\s@]*)$/.exec(before);
  if (file) return { kind: "file", from: caret - file[1]!.length - 1, word: file[1]! };
  return undefined;
}

/** The agent's commands after "/", names of the thread's folder after "@". */
export function useSuggestions(thread: string | undefined, commands: readonly api.Command[] | undefined, text: string, caret: number): Found | undefined {
  const [found, setFound] = useState<Found>();
  const at = wordAt(text, caret);
  const kind = at?.kind;
  const word = at?.word ?? "";
  const from = at?.from ?? 0;
  useEffect(() => {
    if (kind === "command") {
      const items = (commands ?? []).filter((c) => c.name.toLowerCase().startsWith(word.toLowerCase())).map((c) => ({
        insert: "/" + c.name + " ", label: "/" + c.name + (c.hint ? " " + c.hint : ""), ...(c.description ? { detail: c.description } : {}),
      }));
      setFound(items.length > 0 ? { kind, from, to: from + word.length + 1, items } : undefined);
      return;
    }
    if (kind !== "file" || !thread) {
      setFound(undefined);
      return;
    }
    const stop = new AbortController();
    const timer = setTimeout(() => {
      api.files(thread, word, stop.signal).then(
        (names) => {
          const items = names.slice(0, 30).map((name) => ({ insert: "@" + name + (name.endsWith("/") ? "" : " "), label: name }));
          setFound(items.length > 0 ? { kind, from, to: from + word.length + 1, items } : undefined);
        },
        () => {
          if (!stop.signal.aborted) setFound(undefined);
        },
      );
    }, 80);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [kind, word, from, thread, commands]);
  return at ? found : undefined;
}
