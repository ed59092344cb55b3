// Small functions on texts and numbers that several components show.

/**
 * text with control characters, and marks that turn the direction of what follows them,
 * shown as such: what an agent says must not look like something else. Line ends and
 * tabs stay. Length is kept.
 */
export function clean(text: string): string {
  return unsafe.test(text) ? text.replace(everyUnsafe, "\ufffd") : text;
}
const unsafe = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
const everyUnsafe = new RegExp(unsafe.source, "g");

/** A size in bytes for people: 512 B, 1.5 kB, 5.0 MB. */
export function bytes(n: number): string {
  if (n < 1000) return `${n} B`;
  if (n < 999_500) return `${(n / 1e3).toFixed(n < 10_000 ? 1 : 0)} kB`;
  return `${(n / 1e6).toFixed(1)} MB`;
}

/** A duration in milliseconds for people: 0.4 s, 12 s, 3 min 5 s, 2 h 10 min. */
export function duration(ms: number): string {
  const s = Math.max(0, ms) / 1000;
  if (s < 9.95) return `${s.toFixed(1)} s`;
  if (s < 59.5) return `${Math.round(s)} s`;
  const whole = Math.round(s);
  if (whole < 3600) return `${Math.floor(whole / 60)} min${whole % 60 ? ` ${whole % 60} s` : ""}`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** 1234567 as 1,234,567. */
export function count(n: number): string {
  return n.toLocaleString("en-US");
}

/** A number of tokens: 950, 12.4k, 1.2M. */
export function tokens(n: number): string {
  if (n < 1000) return String(n);
  if (n < 999_500) return `${(n / 1e3).toFixed(n < 99_950 ? 1 : 0).replace(/\.0$/, "")}k`;
  return `${(n / 1e6).toFixed(1).replace(/\.0$/, "")}M`;
}

/** How many lines text has; an end of line at the very end begins none. */
export function lineCount(text: string): number {
  if (text === "") return 0;
  let n = 1;
  for (let i = text.indexOf("\n"); i >= 0 && i < text.length - 1; i = text.indexOf("\n", i + 1)) n++;
  return n;
}

/** Lines of more text than this are not counted: live output would pay for it each frame. */
const COUNTED = 1_000_000;

/** Some lines, and how many are left out; Infinity if they are too many to count. */
export type Cut = { text: string; hidden: number };

/** The first lines of text, at most max characters, and how many lines are left out. */
export function head(text: string, lines: number, max = 4000): Cut {
  let end = 0;
  for (let n = 0; n < lines; n++) {
    const at = text.indexOf("\n", end);
    if (at < 0) { end = text.length; break; }
    end = at + 1;
  }
  end = Math.min(end, max);
  if (isHalf(text, end)) end--;
  const rest = text.slice(end);
  return { text: text.slice(0, end).replace(/\n$/, ""), hidden: rest.length > COUNTED ? Infinity : lineCount(rest) };
}

/** The last lines of text, likewise. */
export function tail(text: string, lines: number, max = 4000): Cut {
  const stop = text.endsWith("\n") ? text.length - 1 : text.length;
  let start = stop;
  for (let n = 0; n < lines; n++) {
    const at = text.lastIndexOf("\n", start - 1);
    if (at < 0 || start === 0) { start = 0; break; }
    start = at;
  }
  if (start > 0) start++;
  start = Math.max(start, stop - max);
  if (isHalf(text, start)) start++;
  return { text: text.slice(start, stop), hidden: start > COUNTED ? Infinity : lineCount(text.slice(0, start)) };
}

function isHalf(text: string, at: number): boolean {
  const c = text.charCodeAt(at);
  return at > 0 && c >= 0xdc00 && c <= 0xdfff;
}

/**
 * text in pieces that end at line ends, of size characters or a little more. What is
 * appended to text changes the last piece only.
 */
export function pieces(text: string, size = 16_384): string[] {
  const list: string[] = [];
  let from = 0;
  while (text.length - from > size) {
    let end = text.indexOf("\n", from + size) + 1;
    // One endless line is cut too: a piece of five megabytes would be laid out at once.
    if (end === 0 && text.length - from <= 2 * size) break;
    if (end === 0 || end - from > 2 * size) end = from + (isHalf(text, from + size) ? size + 1 : size);
    list.push(text.slice(from, end));
    from = end;
  }
  if (from < text.length || list.length === 0) list.push(text.slice(from));
  return list;
}

/** JSON with two spaces a level, or null if text is no whole JSON object or array. */
export function pretty(text: string): string | null {
  const t = text.trim();
  if (!/^[{[]/.test(t) || t.length > 2_000_000) return null;
  try {
    return JSON.stringify(JSON.parse(t), null, 2);
  } catch {
    return null;
  }
}

/** The fields of a JSON object; none if it is cut or another value. */
export function fields(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
