// Cuts Markdown into top-level blocks while it streams, so that a frame costs what is
// new in it: complete lines are looked at once, and a block that is closed keeps its
// identity for ever. What a block means is the parser's business (markdown.tsx).

export type Block = {
  /** Where the block begins in the text: stable, so it serves as a key. */
  start: number;
  kind: "code" | "prose";
  /** The code without its fence, or the source of the prose. */
  text: string;
  /** First word of the fence's info string. */
  lang: string;
  /** Nothing more belongs to it. */
  closed: boolean;
};

type Open = {
  start: number;
  kind: "code" | "prose";
  fence: string;
  indent: number;
  lang: string;
  body: number;
  list: boolean;
  indented: boolean;
  blank: boolean;
};

/** What reference links point to, by lower-cased label. */
export type Definitions = Readonly<Record<string, { href: string; title: string }>>;

export type Blocks = {
  text: string;
  /** Closed blocks, in full groups: a group that is full is never made again. */
  groups: readonly (readonly Block[])[];
  /** The rest; the last of them may be open. */
  rest: readonly Block[];
  definitions: Definitions;
  /** How far whole lines have been read, and in what state. */
  at: { pos: number; open: Open | null; groups: readonly (readonly Block[])[]; closed: readonly Block[]; definitions: Definitions };
};

const GROUP = 32;
const none: Definitions = {};

export const emptyBlocks: Blocks = { text: "", groups: [], rest: [], definitions: none, at: { pos: 0, open: null, groups: [], closed: [], definitions: none } };

/**
 * The blocks of text. If text goes on from where prev ended, only what is new is read;
 * otherwise everything. Pure: the same arguments give equal blocks.
 */
export function advance(prev: Blocks, text: string): Blocks {
  if (text === prev.text) return prev;
  const from = text.startsWith(prev.text) ? prev : emptyBlocks;
  const cut = new Cutter(text, from);
  let pos = from.at.pos;
  for (let end = text.indexOf("\n", pos); end >= 0; end = text.indexOf("\n", pos)) {
    cut.line(pos, end);
    pos = end + 1;
  }
  const at = { pos, open: cut.open, groups: cut.groups, closed: cut.closed, definitions: cut.definitions };
  // The last line has not ended: what it makes of the blocks is seen, but not kept.
  const view = new Cutter(text, { ...from, at });
  if (pos < text.length) view.line(pos, text.length, true);
  view.peek();
  return { text, groups: view.groups, rest: view.closed, definitions: view.definitions, at };
}

class Cutter {
  groups: readonly (readonly Block[])[];
  closed: readonly Block[];
  open: Open | null;
  definitions: Definitions;

  private readonly known: readonly Block[];

  constructor(private readonly text: string, from: Blocks) {
    this.groups = from.at.groups;
    this.closed = from.at.closed;
    this.open = from.at.open && { ...from.at.open };
    this.definitions = from.at.definitions;
    this.known = [...(from.groups.at(-1) ?? []), ...from.rest];
  }

  line(start: number, end: number, partial = false): void {
    const line = this.text.slice(start, this.text[end - 1] === "\r" ? end - 1 : end);
    const open = this.open;
    if (open?.kind === "code") {
      if (closes(line, open.fence)) this.close(start);
      return;
    }
    if (line.trim() === "") {
      if (open) open.blank = true;
      return;
    }
    const indent = indentOf(line);
    const inside = open !== null && open.list && indent >= 2;
    const fence = inside ? null : /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)$/.exec(line);
    if (fence) {
      this.close(start);
      const lang = partial ? "" : (/^\s*\{?\.?([^\s{},]*)/.exec(fence[2]!)?.[1] ?? "");
      this.begin(start, "code", { fence: fence[1]!, indent, lang, body: Math.min(end + 1, this.text.length) });
      return;
    }
    const marker = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/.test(line);
    const heading = !inside && /^ {0,3}#{1,6}(?:[ \t]|$)/.test(line);
    if (open && (heading || (open.blank && !goesOn(open, indent, marker)))) this.close(start);
    if (!this.open) this.begin(start, "prose", { list: marker, indented: indent >= 4 });
    else {
      this.open.blank = false;
      // A list may follow a paragraph without an empty line, an ordered one if it begins with 1.
      if (marker && !this.open.list && !/^ *\d/.test(line.replace(/^ *1[.)]/, ""))) this.open.list = true;
    }
    if (heading && !partial) this.close(end);
  }

  /** Adds what is open, as it is so far. */
  peek(): void {
    if (!this.open) return;
    const block = this.block(this.open, this.text.length, false);
    this.closed = [...this.closed, block];
    if (block.kind === "prose") this.define(block.text);
  }

  private begin(start: number, kind: Open["kind"], more: Partial<Open>): void {
    this.open = { start, kind, fence: "", indent: 0, lang: "", body: start, list: false, indented: false, blank: false, ...more };
  }

  private close(end: number): void {
    if (!this.open) return;
    const block = this.block(this.open, end, true);
    this.open = null;
    if (block.kind === "prose") this.define(block.text);
    const closed = [...this.closed, block];
    if (closed.length < GROUP) this.closed = closed;
    else {
      this.groups = [...this.groups, closed];
      this.closed = [];
    }
  }

  private block(open: Open, end: number, closed: boolean): Block {
    let text = this.text.slice(open.body, end);
    if (open.kind === "code") {
      text = text.replace(/\r?\n$/, "");
      if (open.indent > 0) text = text.replace(new RegExp(`^ {1,${open.indent}}`, "gm"), "");
    } else if (closed) text = text.replace(/\s+$/, "");
    const block = { start: open.start, kind: open.kind, text, lang: open.lang, closed };
    // One that is as it was seen last time is the same one.
    return this.known.findLast((b) => b.start === block.start && b.text === text && b.closed === closed && b.lang === block.lang && b.kind === block.kind) ?? block;
  }

  private define(text: string): void {
    if (!text.includes("]:")) return;
    const found: Record<string, { href: string; title: string }> = {};
    for (const m of text.matchAll(/^ {0,3}\[([^\]\n]{1,200})\]:[ \t]*<?([^\s>]+)>?(?:[ \t]+["'(](.*)["')])?[ \t]*$/gm)) {
      const label = m[1]!.toLowerCase().replace(/\s+/g, " ");
      if (!Object.hasOwn(this.definitions, label)) found[label] ??= { href: m[2]!, title: m[3] ?? "" };
    }
    if (Object.keys(found).length > 0) this.definitions = { ...this.definitions, ...found };
  }
}

function closes(line: string, fence: string): boolean {
  const m = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line);
  return m !== null && m[1]![0] === fence[0] && m[1]!.length >= fence.length;
}

function goesOn(open: Open, indent: number, marker: boolean): boolean {
  if (open.list) return marker || indent >= 2;
  return open.indented && indent >= 4;
}

function indentOf(line: string): number {
  let n = 0;
  for (const c of line) {
    if (c === " ") n++;
    else if (c === "\t") n += 4 - (n % 4);
    else break;
  }
  return n;
}
