import type { ReactNode } from "react";

// As the icons of messages: a grid of 16, lines of 1.5.
const paths = {
  plus: "M8 3v10M3 8h10",
  menu: "M2.5 4h11M2.5 8h11M2.5 12h11",
  close: "M4 4l8 8M12 4l-8 8",
  send: "M8 13V3M3.8 7.2L8 3l4.2 4.2",
  stop: "M4 4h8v8H4z",
  queue: "M2.5 4h8M2.5 8h8M2.5 12h4M12 9.5v5M9.5 12h5",
  attach: "M12.8 7.3l-5 5a3 3 0 0 1-4.3-4.2l5.3-5.4a2 2 0 0 1 2.9 2.9l-5.3 5.3a1 1 0 0 1-1.4-1.4l4.7-4.8",
  pencil: "M10.9 2.8l2.3 2.3L5.5 12.8l-3 .7.7-3zM9.4 4.3l2.3 2.3",
  trash: "M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.5 9h6l.5-9M6.8 7v4M9.2 7v4",
  retry: "M13 8a5 5 0 1 1-1.5-3.6M13 2.5v3h-3",
  down: "M8 3v10M3.8 8.8L8 13l4.2-4.2",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.3 10.3l3.2 3.2",
  bell: "M4 11.5V7a4 4 0 0 1 8 0v4.5l1 1H3zM6.8 14h2.4",
  help: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM6.2 6.3a1.9 1.9 0 1 1 2.7 1.9c-.6.3-.9.6-.9 1.3M8 11.6v.2",
  sun: "M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9",
  moon: "M13 9.3A5.5 5.5 0 0 1 6.7 3 5.5 5.5 0 1 0 13 9.3z",
  system: "M2.5 3h11v7.5h-11zM6 13.5h4M8 10.5v3",
  folder: "M2 4.5h4l1.3 1.5H14v7H2z",
  key: "M10 9.5a3.2 3.2 0 1 0-3-2.1L2.5 12v1.7h2.2v-1.5h1.5v-1.6l1-.9c.7.4 1.8.6 2.8-.2zM10.8 5.4v.1",
  plug: "M6 2.5v3M10 2.5v3M4 5.5h8v2.3a4 4 0 0 1-8 0zM8 11.8v2.2",
  ask: "M2.5 3h11v8h-6l-3 2.5V11h-2zM8 5v2.5M8 9v.1",
};

export type UiIconName = keyof typeof paths;

/** A decoration: its button has the name. */
export function UiIcon({ name }: { name: UiIconName }): ReactNode {
  return (
    <svg className="ui-icon" viewBox="0 0 16 16" width="16" height="16" fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" strokeLinejoin="round" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}

type ButtonProps = { icon: UiIconName; label: string } & Omit<React.ButtonHTMLAttributes<HTMLButtonElement>, "children">;

/** A button that is an icon: its name is read out and shown as a tooltip. */
export function IconButton({ icon, label, className, ...rest }: ButtonProps): ReactNode {
  return (
    <button type="button" className={"icon-button " + (className ?? "")} aria-label={label} title={label} {...rest}>
      <UiIcon name={icon} />
    </button>
  );
}
