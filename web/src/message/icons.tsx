import type { ReactNode } from "react";

// Drawn on a grid of 16, lines of 1.5.
const paths = {
  read: "M3.5 2.5h6l3 3v8h-9zM9.5 2.5v3h3M6 8.5h4M6 11h4",
  edit: "M10.9 2.8l2.3 2.3L5.5 12.8l-3 .7.7-3zM9.4 4.3l2.3 2.3",
  delete: "M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.5 9h6l.5-9M6.8 7v4M9.2 7v4",
  move: "M2.5 8h11M10 4.5L13.5 8 10 11.5M2.5 4.5v7",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.3 10.3l3.2 3.2",
  execute: "M3 4l4 4-4 4M8.5 12h4.5",
  think: "M8 2.5a4 4 0 0 0-2.3 7.3c.5.4.8.9.8 1.5v.2h3v-.2c0-.6.3-1.1.8-1.5A4 4 0 0 0 8 2.5zM6.8 13.8h2.4",
  fetch: "M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM2.5 8h11M8 2.5c3 3.2 3 7.8 0 11M8 2.5c-3 3.2-3 7.8 0 11",
  other: "M9.8 2.9a3.6 3.6 0 0 0-4.2 4.8L2.6 10.7l2.7 2.7 3-3a3.6 3.6 0 0 0 4.8-4.2L10.9 8.4 8.7 7.3 7.6 5.1z",
  agent: "M3.5 5.5h9v7h-9zM8 5.5v-3M6.2 8.3v1.4M9.8 8.3v1.4M1.8 8v2.5M14.2 8v2.5",
  queued: "M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM8 5v3.2l2 1.3",
  running: "M8 2.5a5.5 5.5 0 1 1-5.5 5.5",
  done: "M3 8.5l3.2 3.2L13 4.8",
  failed: "M4 4l8 8M12 4l-8 8",
  cancelled: "M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM4.2 11.8l7.6-7.6",
  interrupted: "M9 2L4 9h3.5L7 14l5-7H8.5z",
  chevron: "M6 4l4 4-4 4",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  wrap: "M2.5 4h11M2.5 8h8.5a2.2 2.2 0 0 1 0 4.5H8.5M10 10.7l-1.8 1.8L10 14.3M2.5 12h3",
  info: "M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM8 7.5v3.2M8 5.3v.2",
  warning: "M8 2.5l6 10.8H2zM8 6.5v3.2M8 11.3v.2",
  error: "M5.6 2.5h4.8l3.1 3.1v4.8l-3.1 3.1H5.6l-3.1-3.1V5.6zM8 5v3.7M8 10.8v.2",
  image: "M2.5 3.5h11v9h-11zM2.5 10.5l3-3 3 3 2-2 3 3M10.2 6.3v.1",
  audio: "M2.5 6.2v3.6h2.3L8 12.5v-9L4.8 6.2zM10.5 5.8c1.2 1.2 1.2 3.2 0 4.4M12.3 4c2.2 2.2 2.2 5.8 0 8",
  file: "M4 2.5h5l3 3v8H4zM9 2.5v3h3",
  close: "M4 4l8 8M12 4l-8 8",
  download: "M8 2.5v7.5M4.8 7L8 10.2 11.2 7M3 13.2h10",
  box: "M3 3h10v10H3z",
  "box-checked": "M3 3h10v10H3zM5.5 8l2 2 3.2-3.8",
  dot: "M8 10.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z",
  circle: "M8 12.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9z",
  half: "M8 12.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM8 5.5v2.7l1.8 1",
  tick: "M8 12.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM6 8.1l1.5 1.5L10.2 6.6",
  pin: "M8 14s4.5-4.3 4.5-7.5a4.5 4.5 0 0 0-9 0C3.5 9.7 8 14 8 14zM8 7.8a1.3 1.3 0 1 0 0-2.6 1.3 1.3 0 0 0 0 2.6z",
  diagram: "M2.5 2.5h4.5v3.5H2.5zM9 10h4.5v3.5H9zM4.7 6v5.7H9",
};

export type IconName = keyof typeof paths;

/** A line drawing in the colour of the text; with a label it is read out, without one it is decoration. */
export function Icon({ name, label }: { name: IconName; label?: string }): ReactNode {
  return (
    <svg className={`icon icon-${name}`} viewBox="0 0 16 16" width="16" height="16" fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round"
      strokeLinejoin="round" role={label ? "img" : undefined} aria-label={label} aria-hidden={label ? undefined : true} focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}

/** The icon of a kind of tool call. */
export function kindIcon(kind: string): IconName {
  return ["read", "edit", "delete", "move", "search", "execute", "think", "fetch"].includes(kind) ? (kind as IconName) : "other";
}
