import { memo, type ReactNode } from "react";
import type { Part } from "../model";
import { Markdown } from "./Markdown";
import { MediaView } from "./MediaView";
import { ErrorPart, Notice } from "./Notice";
import { Plan } from "./Plan";
import { Subagent } from "./Subagent";
import { Thought } from "./Thought";
import { ToolCard } from "./ToolCard";

/** One part of a turn. */
export const PartView = memo(function PartView({ part }: { part: Part }): ReactNode {
  switch (part.type) {
    case "text":
      return part.text === "" ? null : <Markdown text={part.text} streaming={part.streaming} />;
    case "thought":
      return <Thought text={part.text} streaming={part.streaming} ms={part.ms} />;
    case "call":
      return <ToolCard call={part.call} nested={part.children} />;
    case "subagent":
      return <Subagent name={part.name} state={part.state} parts={part.children} />;
    case "plan":
      return <Plan entries={part.entries} />;
    case "notice":
      return <Notice level={part.level} text={part.text} />;
    case "media":
      return <MediaView media={part.media} />;
    case "error":
      return <ErrorPart code={part.code} message={part.message} />;
  }
});

/** A key that stays with the part while others come before or after it. */
export function partKey(part: Part, index: number): string {
  if (part.type === "call") return part.call.id;
  return "id" in part ? `${part.type}:${part.id}` : `${part.type}:${index}`;
}
