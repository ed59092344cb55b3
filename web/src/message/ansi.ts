// Terminal output as styled text. Colours and weights (SGR) are kept, a carriage return
// or a backspace overwrites as on a terminal; sequences that move the cursor elsewhere,
// erase the screen, set titles or links are dropped. Reads on where it stopped, so that
// live output costs what is new in it.

import { pieces } from "./text";

export type Style = {
  /** 0–15 is the palette, a string is a colour for CSS. */
  fg?: number | string;
  bg?: number | string;
  bold?: boolean;
  dim?: boolean;
  italic?: boolean;
  underline?: boolean;
  strike?: boolean;
  inverse?: boolean;
};

export type Segment = { text: string; style: Style | null };

/** Some lines; one that is full is never made again. */
export type Chunk = { lines: number; segments: readonly Segment[] };

export type Terminal = {
  text: string;
  full: readonly Chunk[];
  rest: readonly Chunk[];
  lines: number;
  at: { pos: number; style: Style | null; open: readonly Segment[]; lines: number };
};

const LINES = 200;
const CHARS = 32_768;

export const emptyTerminal: Terminal = { text: "", full: [], rest: [], lines: 0, at: { pos: 0, style: null, open: [], lines: 0 } };

/** The lines of text, reading on from prev if text continues prev's. Pure. */
export function feed(prev: Terminal, text: string): Terminal {
  if (text === prev.text) return prev;
  const from = text.startsWith(prev.text) ? prev : emptyTerminal;
  let { pos, style } = from.at;
  const into = new Chunks([...from.full], [...from.at.open], from.at.lines);
  for (let end = text.indexOf("\n", pos); end >= 0; end = text.indexOf("\n", pos)) {
    const read = line(text.slice(pos, end), style);
    style = read.style;
    pos = end + 1;
    into.line([...read.segments, { text: "\n", style: null }]);
  }
  const at = { pos, style, open: into.open, lines: into.lines };
  // The last line has not ended: it is shown, but read again.
  const seen = new Chunks([], [...into.open], into.lines);
  if (pos < text.length) seen.line(line(text.slice(pos), style).segments);
  const rest = seen.open.length > 0 ? [...seen.full, { lines: seen.lines, segments: seen.open }] : seen.full;
  const lines = [...into.full, ...rest].reduce((n, c) => n + c.lines, 0);
  return { text, full: into.full, rest, lines, at };
}

class Chunks {
  private chars: number;

  constructor(readonly full: Chunk[], public open: Segment[], public lines: number) {
    this.chars = open.reduce((n, s) => n + s.text.length, 0);
  }

  line(segments: readonly Segment[]): void {
    this.lines++;
    // One endless line is cut, or all of it would be laid out at once.
    const endless = segments.reduce((n, s) => n + s.text.length, 0) > 2 * CHARS;
    for (const s of segments) {
      for (const text of endless ? pieces(s.text, CHARS) : [s.text]) {
        add(this.open, [{ text, style: s.style }]);
        this.chars += text.length;
        if (endless && this.chars >= CHARS) this.end();
      }
    }
    if (this.lines >= LINES || this.chars >= CHARS) this.end();
  }

  private end(): void {
    this.full.push({ lines: this.lines, segments: this.open });
    [this.open, this.lines, this.chars] = [[], 0, 0];
  }
}

function add(list: Segment[], more: readonly Segment[]): void {
  for (const s of more) {
    const last = list[list.length - 1];
    // An end of line has no look of its own.
    if (last && (last.style === s.style || s.text === "\n")) list[list.length - 1] = { text: last.text + s.text, style: last.style };
    else if (s.text !== "") list.push(s);
  }
}

type Read = { segments: Segment[]; style: Style | null };

// A sequence of ESC, whole or cut by the end; C1 controls count as their ESC forms.
const sequence = /(?:\x1b\[|\x9b)([0-9;:<=>?]*)[ -/]*([@-~])?|(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|$)|\x1b[PX^_][^\x1b]*(?:\x1b\\|$)|\x1b[ -/]*[0-~]?/g;

function line(text: string, style: Style | null): Read {
  if (!/[\r\b]/.test(text.endsWith("\r") ? text.slice(0, -1) : text) && !/\x1b\[[\d;]*[CDGK]/.test(text)) return straight(text, style);
  return overwritten(text.slice(0, 200_000), style);
}

function straight(text: string, style: Style | null): Read {
  const segments: Segment[] = [];
  let from = 0;
  const put = (end: number) => {
    if (end > from) add(segments, [{ text: visible(text.slice(from, end)), style }]);
  };
  if (text.includes("\x1b") || /[\x9b\x9d]/.test(text)) {
    for (const m of text.matchAll(sequence)) {
      put(m.index);
      from = m.index + m[0].length;
      if (m[2] === "m") style = sgr(style, m[1] ?? "");
    }
  }
  put(text.length);
  return { segments, style };
}

type Cell = { c: string; style: Style | null };

function overwritten(text: string, style: Style | null): Read {
  let cells: Cell[] = [];
  let col = 0;
  const put = (part: string) => {
    for (const c of part) {
      if (c === "\r") col = 0;
      else if (c === "\b") col = Math.max(0, col - 1);
      else {
        while (cells.length < col) cells.push({ c: " ", style: null });
        cells[col++] = { c: visible(c), style };
      }
    }
  };
  let from = 0;
  for (const m of text.matchAll(sequence)) {
    put(text.slice(from, m.index));
    from = m.index + m[0].length;
    const n = Math.min(parseInt(m[1] ?? "", 10) || 0, 1000);
    if (m[2] === "m") style = sgr(style, m[1] ?? "");
    else if (m[2] === "C") col += n || 1;
    else if (m[2] === "D") col = Math.max(0, col - (n || 1));
    else if (m[2] === "G") col = Math.max(0, (n || 1) - 1);
    else if (m[2] === "K" && n === 2) cells = [];
    else if (m[2] === "K" && n === 1) for (let i = 0; i < Math.min(col, cells.length); i++) cells[i] = { c: " ", style: null };
    else if (m[2] === "K") cells.length = Math.min(cells.length, col);
  }
  put(text.slice(from));
  const segments: Segment[] = [];
  for (const cell of cells) add(segments, [{ text: cell.c, style: cell.style }]);
  return { segments, style };
}

function visible(text: string): string {
  return text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "").replace(/[\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
}

function sgr(style: Style | null, params: string): Style | null {
  if (/[<=>?]/.test(params)) return style;
  const s: Style = { ...style };
  const list = params.split(";");
  const number = (i: number) => parseInt(list[i] ?? "", 10) || 0;
  for (let i = 0; i < list.length; i++) {
    if (list[i]!.includes(":")) {
      colons(s, list[i]!.split(":").map((p) => parseInt(p, 10) || 0));
      continue;
    }
    const p = number(i);
    if (p === 0) for (const k of Object.keys(s)) delete s[k as keyof Style];
    else if ((p === 38 || p === 48) && number(i + 1) === 5) colour(s, p, indexed(number((i += 2))));
    else if ((p === 38 || p === 48) && number(i + 1) === 2) {
      colour(s, p, rgb(number(i + 2), number(i + 3), number(i + 4)));
      i += 4;
    } else simple(s, p);
  }
  return Object.keys(s).length > 0 ? s : null;
}

// The form with colons: 38:5:n, 38:2:r:g:b, and 38:2:space:r:g:b; 4:n is a kind of underline.
function colons(s: Style, [p, kind, ...v]: number[]): void {
  if (p === 4) {
    if (kind === 0) delete s.underline;
    else s.underline = true;
  } else if (p !== 38 && p !== 48) return;
  else if (kind === 5) colour(s, p, indexed(v[0] ?? 0));
  else if (kind === 2 && v.length >= 3) colour(s, p, rgb(...(v.slice(v.length > 3 ? 1 : 0) as [number, number, number])));
}

function colour(s: Style, p: number, value: number | string | undefined): void {
  if (value !== undefined) s[p === 38 ? "fg" : "bg"] = value;
}

function rgb(r: number, g: number, b: number): string {
  return `rgb(${Math.min(255, r)} ${Math.min(255, g)} ${Math.min(255, b)})`;
}

function simple(s: Style, p: number): void {
  if (p === 1) s.bold = true;
  else if (p === 2) s.dim = true;
  else if (p === 3) s.italic = true;
  else if (p === 4 || p === 21) s.underline = true;
  else if (p === 7) s.inverse = true;
  else if (p === 9) s.strike = true;
  else if (p === 22) { delete s.bold; delete s.dim; }
  else if (p === 23) delete s.italic;
  else if (p === 24) delete s.underline;
  else if (p === 27) delete s.inverse;
  else if (p === 29) delete s.strike;
  else if (p >= 30 && p <= 37) s.fg = p - 30;
  else if (p === 39) delete s.fg;
  else if (p >= 40 && p <= 47) s.bg = p - 40;
  else if (p === 49) delete s.bg;
  else if (p >= 90 && p <= 97) s.fg = p - 82;
  else if (p >= 100 && p <= 107) s.bg = p - 92;
}

function indexed(n: number): number | string | undefined {
  if (n < 16) return n;
  if (n > 255) return undefined;
  if (n >= 232) return rgb(8 + (n - 232) * 10, 8 + (n - 232) * 10, 8 + (n - 232) * 10);
  const level = (v: number) => (v === 0 ? 0 : 55 + v * 40);
  const i = n - 16;
  return rgb(level(Math.floor(i / 36)), level(Math.floor(i / 6) % 6), level(i % 6));
}

/**
 * A colour for text on the terminal's dark ground: the one that was asked for, made
 * lighter until it can be read (4.5:1). Colours of the palette are made so in CSS.
 */
export function readable(colour: string): string {
  const rgb = colour.match(/\d+/g)!.map(Number);
  for (let step = 0; step < 10 && contrast(rgb) < 4.6; step++) {
    for (let i = 0; i < 3; i++) rgb[i] = Math.round(rgb[i]! + (255 - rgb[i]!) * 0.15);
  }
  return `rgb(${rgb.join(" ")})`;
}

const ground = 0.0125; // luminance of --term-bg

function contrast(rgb: number[]): number {
  const lin = rgb.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return (0.2126 * lin[0]! + 0.7152 * lin[1]! + 0.0722 * lin[2]! + 0.05) / (ground + 0.05);
}
