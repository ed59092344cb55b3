import { act, type ReactNode } from "react";
import { createRoot } from "react-dom/client";

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

/** What a node becomes in a page; again draws another in its place, remove ends it. */
export function render(node: ReactNode): HTMLElement & { again: (node: ReactNode) => void } {
  const box = document.createElement("div");
  document.body.append(box);
  const root = createRoot(box);
  act(() => root.render(node));
  const remove = box.remove.bind(box);
  return Object.assign(box, {
    again: (next: ReactNode) => act(() => root.render(next)),
    remove: () => {
      act(() => root.unmount());
      remove();
    },
  });
}
