import { memo, type ReactNode } from "react";
import { clean, lineCount, pieces } from "./text";

/**
 * Text of any length: in pieces that the browser lays out only near the screen. What is
 * appended draws the last piece again.
 */
export const LongText = memo(function LongText({ text }: { text: string }): ReactNode {
  const list = pieces(text);
  if (list.length === 1) return <code>{clean(text)}</code>;
  return (
    <code className="long">
      {list.map((piece, i) => <Piece key={i} text={piece} />)}
    </code>
  );
});

const Piece = memo(function Piece({ text }: { text: string }): ReactNode {
  return <span className="piece" style={{ containIntrinsicBlockSize: `auto ${lineCount(text) * 1.5}em` }}>{clean(text)}</span>;
});
