import type { ReactNode } from "react";
import { Signal, useSignal } from "../store/signal";
import { IconButton } from "./UiIcon";

const said = new Signal<{ text: string; bad: boolean } | undefined>(undefined);
let timer: ReturnType<typeof setTimeout> | undefined;

function say(text: string, bad: boolean): void {
  clearTimeout(timer);
  said.set({ text, bad });
  if (!bad) timer = setTimeout(() => said.set(undefined), 6000);
}

/** Says that something was done; it goes away by itself. */
export const tell = (text: string) => say(text, false);

/** Says what went wrong; it stays until it is closed. */
export const complain = (e: unknown) => say(e instanceof Error ? e.message : String(e), true);

export function Toast(): ReactNode {
  const now = useSignal(said);
  return (
    <div className="toast-place" role="status">
      {now && (
        <div className={"toast" + (now.bad ? " toast-bad" : "")}>
          <span dir="auto">{now.text}</span>
          <IconButton icon="close" label="Close message" onClick={() => said.set(undefined)} />
        </div>
      )}
    </div>
  );
}
