import type { ReactNode } from "react";
import { clean } from "./text";

/** One line of an agent, with code where it has backticks; nothing else of Markdown counts. */
export function Line({ text }: { text: string }): ReactNode {
  return clean(text).split(/`([^`]+)`/).map((part, i) => (i % 2 ? <code key={i} className="md-code">{part}</code> : part));
}
