// A block that still streams ends anywhere: in half a link, before the stars that close
// a bold word. heal gives the text as it will most likely be read once it is whole, so
// that no mark flashes up as a character and then goes.

/** text, closed at its end as Markdown. Only for the last block of a text that streams. */
export function heal(text: string): string {
  return table(inline(marks(text)));
}

// A line of nothing but marks says nothing yet: `-` may begin a list item, and under a
// paragraph it would make that a heading for a moment.
function marks(text: string): string {
  const at = text.lastIndexOf("\n") + 1;
  const line = text.slice(at);
  if (/^\s*(?:[-=*_+#>`~|]{1,3}|\d{1,9}[.)]?|[-*+]\s+\[[ xX]?\]?)\s*$/.test(line) && !/^ {0,3}\|/.test(line)) {
    // A quote's own marks stay, or the quote would end.
    return text.slice(0, at) + (/^\s*>/.test(line) ? ">" : "");
  }
  return text;
}

// A head without its delimiter row is a paragraph to the parser.
function table(text: string): string {
  const lines = text.split("\n");
  const [head, rule] = lines;
  if (!head || lines.length > 2 || !/^ {0,3}\|.*\S/.test(head)) return text;
  if (rule !== undefined && !/^[ |:-]*$/.test(rule)) return text;
  const body = head.trim().replace(/^\|/, "").replace(/\|$/, "");
  const cells = body.split(/(?<!\\)\|/).length;
  const closed = head.trimEnd().endsWith("|") ? head : head + " |";
  return closed + "\n" + "|" + " --- |".repeat(cells);
}

type Mark = { mark: string; at: number };

function inline(text: string): string {
  const from = text.lastIndexOf("\n\n") + 1;
  const open: Mark[] = [];
  let bracket = -1;
  let image = false;
  for (let i = from; i < text.length; i++) {
    const c = text[i]!;
    if (c === "\\") { i++; continue; }
    if (c === "`") {
      const run = runOf(text, i);
      const end = closing(text, i + run, run);
      if (end < 0) return code(text, i, run, open);
      i = end + run - 1;
    } else if (c === "[") {
      if (bracket < 0) { bracket = i; image = text[i - 1] === "!"; }
    } else if (c === "]" && bracket >= 0) {
      if (text[i + 1] === "(") {
        const end = target(text, i + 1);
        if (end < 0) return close(image ? text.slice(0, bracket - 1) : text.slice(0, bracket) + text.slice(bracket + 1, i), open);
        i = end;
      } else if (i === text.length - 1 && !/^\[[ xX]\]$/.test(text.slice(bracket))) {
        return close(image ? text.slice(0, bracket - 1) : text.slice(0, bracket) + text.slice(bracket + 1, i), open);
      }
      bracket = -1;
    } else if (c === "*" || c === "_" || c === "~") {
      const run = runOf(text, i);
      emphasis(text, i, run, open);
      i += run - 1;
    }
  }
  if (bracket >= 0 && !/^\[[ xX]?$/.test(text.slice(bracket))) {
    text = image ? text.slice(0, bracket - 1) : text.slice(0, bracket) + text.slice(bracket + 1);
    for (const m of open) if (m.at > bracket) m.at--;
  }
  if (text.endsWith("!")) return close(text, open);
  return close(text.replace(/\\$/, ""), open);
}

function runOf(text: string, at: number): number {
  let n = 1;
  while (text[at + n] === text[at]) n++;
  return n;
}

function closing(text: string, from: number, run: number): number {
  for (let i = text.indexOf("`", from); i >= 0; ) {
    const n = runOf(text, i);
    if (n === run) return i;
    i = text.indexOf("`", i + n);
  }
  return -1;
}

function code(text: string, at: number, run: number, open: Mark[]): string {
  const body = text.slice(at + run);
  if (body.trim() === "" || body.includes("\n\n")) return body.trim() === "" ? close(text.slice(0, at), open) : text;
  return close(text.replace(/`+$/, (m) => (m.length < run ? "" : m)) + "`".repeat(run), open);
}

// Where the target that begins with ( ends, or -1.
function target(text: string, from: number): number {
  let depth = 0;
  for (let i = from; i < text.length && text[i] !== "\n"; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === "(") depth++;
    else if (text[i] === ")" && --depth === 0) return i;
  }
  return text.indexOf("\n", from) >= 0 ? from : -1;
}

function emphasis(text: string, at: number, run: number, open: Mark[]): void {
  const c = text[at]!;
  if (c === "~" && run !== 2) return;
  const before = text[at - 1] ?? " ";
  const after = text[at + run] ?? " ";
  const word = /[\p{L}\p{N}]/u;
  if (c === "_" && word.test(before) && word.test(after)) return;
  let left = run;
  if (!/\s/.test(before)) {
    for (let k = open.length - 1; k >= 0 && left > 0; k--) {
      const m = open[k]!;
      if (m.mark[0] !== c || m.mark.length > left) continue;
      left -= m.mark.length;
      open.length = k;
    }
  }
  if (left === 0 || left > 3) return;
  const last = at + run === text.length;
  if (/\s/.test(after) && !last) return;
  // A mark in the middle of a word at the very end may be the first half of a closing one.
  if (last && !/\s/.test(before) && left < run) return;
  if (left === 3) open.push({ mark: c + c, at }, { mark: c, at: at + 2 });
  else open.push({ mark: c.repeat(left), at: at + run - left });
}

function close(text: string, open: Mark[]): string {
  let out = text.trimEnd();
  for (let k = open.length - 1; k >= 0; k--) {
    const { mark } = open[k]!;
    if (out.endsWith(mark) && out.length - mark.length <= open[k]!.at) {
      out = out.slice(0, -mark.length).trimEnd();
      continue;
    }
    // Half of a closing mark is there already.
    const half = k === open.length - 1 && mark.length === 2 && out.endsWith(mark[0]!) && !out.endsWith(mark) && out.length - 1 > open[k]!.at + 1;
    out += half ? mark[0] : mark;
  }
  return out;
}
