import { memo, useRef, type ReactNode } from "react";
import { advance, emptyBlocks, type Block, type Blocks, type Definitions } from "./blocks";
import { CodeBlock } from "./Code";
import { heal } from "./heal";
import { prose } from "./prose";

/**
 * An answer. While it streams only its last block is parsed and drawn again, and what is
 * half there (a fence, a link, a bold word) looks as if it were whole.
 */
export const Markdown = memo(function Markdown({ text, streaming = false }: { text: string; streaming?: boolean }): ReactNode {
  // A cache: advance gives equal blocks whatever it goes on from.
  const kept = useRef<Blocks>(emptyBlocks);
  const blocks = advance(kept.current, text);
  kept.current = blocks;
  const last = blocks.rest.length - 1;
  const top = firstHeading(blocks);
  return (
    <div className="md">
      {blocks.groups.map((group, i) => <Group key={i} blocks={group} definitions={blocks.definitions} top={top} />)}
      {blocks.rest.map((b, i) => (
        <BlockView key={b.start} block={b} definitions={wants(b, blocks.definitions)} top={top} streaming={streaming && i === last} />
      ))}
    </div>
  );
});

const Group = memo(function Group({ blocks, definitions, top }: { blocks: readonly Block[]; definitions: Definitions; top: number }): ReactNode {
  return blocks.map((b) => <BlockView key={b.start} block={b} definitions={wants(b, definitions)} top={top} streaming={false} />);
});

const nothing: Definitions = {};

// A block without brackets is the same whatever is defined later.
function wants(block: Block, definitions: Definitions): Definitions {
  return block.kind === "prose" && block.text.includes("[") ? definitions : nothing;
}

// Found in the first group or in none: a text of a thousand lines has had its first heading.
function firstHeading(blocks: Blocks): number {
  for (const b of blocks.groups[0] ?? blocks.rest) {
    const m = b.kind === "prose" ? /^ {0,3}(#{1,6})(?:[ \t]|$)/.exec(b.text) : null;
    if (m) return m[1]!.length;
  }
  return 6;
}

type BlockProps = { block: Block; definitions: Definitions; top: number; streaming: boolean };

const BlockView = memo(function BlockView({ block, definitions, top, streaming }: BlockProps): ReactNode {
  if (block.kind === "code") return <CodeBlock code={block.text} lang={block.lang} open={streaming && !block.closed} />;
  return prose(streaming && !block.closed ? heal(block.text) : block.text, definitions, top);
});
