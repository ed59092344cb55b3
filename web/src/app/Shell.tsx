import type { ReactNode } from "react";
import { Signal, useSignal } from "../store/signal";
import { requests } from "../store/requests";
import { IconButton } from "./UiIcon";

/** Whether the list of threads is open, on a narrow page. */
export const drawer = new Signal(false);

export function MenuButton(): ReactNode {
  const n = useSignal(requests).length;
  return (
    <span className="menu-button drawer-only">
      <IconButton icon="menu" label={n > 0 ? `Threads, ${n} waiting` : "Threads"} onClick={() => drawer.set(true)} />
      {n > 0 && <span className="badge" aria-hidden="true">{n}</span>}
    </span>
  );
}
