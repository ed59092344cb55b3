import { memo, useRef, type CSSProperties, type ReactNode } from "react";
import { emptyTerminal, feed, readable, type Chunk, type Segment, type Style, type Terminal } from "./ansi";

/** A terminal's output in its colours. Live output costs what is new in it. */
export const TerminalView = memo(function TerminalView({ text, label = "Output" }: { text: string; label?: string }): ReactNode {
  const kept = useRef<Terminal>(emptyTerminal);
  const terminal = feed(kept.current, text);
  kept.current = terminal;
  return (
    <pre className="term" tabIndex={0} role="group" aria-label={label} dir="ltr">
      <code className={terminal.full.length + terminal.rest.length > 1 ? "far" : undefined}>
        {terminal.full.map((c, i) => <ChunkView key={i} chunk={c} />)}
        {terminal.rest.map((c, i) => <ChunkView key={terminal.full.length + i} chunk={c} />)}
      </code>
    </pre>
  );
});

const ChunkView = memo(function ChunkView({ chunk }: { chunk: Chunk }): ReactNode {
  return <span className="piece" style={{ containIntrinsicBlockSize: `auto ${chunk.lines * 1.5}em` }}>{chunk.segments.map((s, i) => <SegmentView key={i} segment={s} />)}</span>;
});

const SegmentView = memo(function SegmentView({ segment: { text, style } }: { segment: Segment }): ReactNode {
  if (!style) return text;
  return <span className={classes(style)} style={colours(style)}>{text}</span>;
});

function classes(s: Style): string | undefined {
  const names: string[] = [];
  const [fg, bg] = s.inverse ? [s.bg, s.fg] : [s.fg, s.bg];
  if (typeof fg === "number") names.push(`tf${fg}`);
  if (typeof bg === "number") names.push(`tb${bg}`);
  if (s.inverse && fg === undefined) names.push("tfi");
  if (s.inverse && bg === undefined) names.push("tbi");
  for (const k of ["bold", "dim", "italic", "underline", "strike"] as const) if (s[k]) names.push(`t-${k}`);
  return names.length > 0 ? names.join(" ") : undefined;
}

function colours(s: Style): CSSProperties | undefined {
  const [fg, bg] = s.inverse ? [s.bg, s.fg] : [s.fg, s.bg];
  if (typeof fg !== "string" && typeof bg !== "string") return undefined;
  // On a ground of its own the agent has chosen both.
  return { color: typeof fg === "string" ? (bg === undefined ? readable(fg) : fg) : undefined, backgroundColor: typeof bg === "string" ? bg : undefined };
}
