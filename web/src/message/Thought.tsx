import { memo, type ReactNode } from "react";
import { Fold } from "./Fold";
import { Icon } from "./icons";
import { Markdown } from "./Markdown";
import { clean, duration } from "./text";

type Props = { text: string; streaming: boolean; ms?: number };

/** What the agent thought: one line, which says how long; the last line of it while it thinks. */
export const Thought = memo(function Thought({ text, streaming, ms }: Props): ReactNode {
  const empty = text.trim() === "";
  const head = (
    <>
      <Icon name="think" />
      {streaming ? (
        <>
          <span className="thinking">Thinking…</span>
          <bdi className="thought-last">{lastLine(text)}</bdi>
        </>
      ) : (
        <span>{ms !== undefined && ms > 0 ? `Thought for ${duration(ms)}` : "Thought"}</span>
      )}
    </>
  );
  return (
    <Fold className={`thought${streaming ? " thought-live" : ""}`} head={head} open={false} empty={empty}>
      {() => <Markdown text={text} streaming={streaming} />}
    </Fold>
  );
});

function lastLine(text: string): string {
  const end = text.trimEnd();
  const line = end.slice(Math.max(end.lastIndexOf("\n") + 1, end.length - 400));
  return clean(line.replace(/^[\s#>*-]+|[*_`]+/g, "").trim());
}
