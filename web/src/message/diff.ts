// The difference between two texts, line by line, with the words that changed inside
// lines. Myers' algorithm in the gaps between lines that are unique on both sides, so
// that big files cost little; a gap that is too different is taken as replaced.

export type Span = { text: string; changed: boolean };

export type Row = {
  kind: "same" | "gone" | "come";
  /** Line numbers from 1; 0 on the side where there is no such line. */
  old: number;
  new: number;
  spans: Span[];
};

export type Hunk = { kind: "rows"; rows: Row[] } | { kind: "fold"; rows: Row[] };

export type Diff = { hunks: Hunk[]; added: number; removed: number };

const known = new WeakMap<object, Diff>();

/** The difference of a file, computed once for each object: the line of a card and its body both show it. */
export function diffOf(file: { oldText?: string; newText: string }): Diff {
  let diff = known.get(file);
  if (!diff) known.set(file, (diff = diffTexts(file.oldText ?? "", file.newText)));
  return diff;
}

type Pair = [a: number, b: number];

/** Rows of both texts; unchanged ones further than context lines from a change are in folds. */
export function diffTexts(before: string, after: string, context = 3): Diff {
  const a = split(before);
  const b = split(after);
  const rows = rowsOf(a, b, matches(a, b));
  let added = 0;
  let removed = 0;
  for (const r of rows) {
    if (r.kind === "come") added++;
    else if (r.kind === "gone") removed++;
  }
  return { hunks: fold(rows, context), added, removed };
}

function split(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines[lines.length - 1] === "") lines.pop();
  return lines.map((l) => (l.endsWith("\r") ? l.slice(0, -1) : l));
}

/** Which elements of a and b are the same, in order: a common subsequence, mostly the longest. */
export function matches(a: readonly string[], b: readonly string[]): Pair[] {
  const out: Pair[] = [];
  gap(a, 0, a.length, b, 0, b.length, out);
  return out;
}

function gap(a: readonly string[], a0: number, a1: number, b: readonly string[], b0: number, b1: number, out: Pair[]): void {
  while (a0 < a1 && b0 < b1 && a[a0] === b[b0]) out.push([a0++, b0++]);
  const ends: Pair[] = [];
  while (a0 < a1 && b0 < b1 && a[a1 - 1] === b[b1 - 1]) ends.push([--a1, --b1]);
  if (a0 < a1 && b0 < b1) {
    const middle = myers(a, a0, a1, b, b0, b1);
    if (middle) out.push(...middle);
    else {
      let [x, y] = [a0, b0];
      for (const [i, j] of anchors(a, a0, a1, b, b0, b1)) {
        // What stands between two anchors has none of its own: it ends after one more step.
        for (const p of myers(a, x, i, b, y, j) ?? []) out.push(p);
        out.push([i, j]);
        [x, y] = [i + 1, j + 1];
      }
      for (const p of myers(a, x, a1, b, y, b1) ?? []) out.push(p);
    }
  }
  for (let k = ends.length - 1; k >= 0; k--) out.push(ends[k]!);
}

const DISTANCE = 600;

// The greedy algorithm of Myers 1986, or null if the distance is too great.
function myers(a: readonly string[], a0: number, a1: number, b: readonly string[], b0: number, b1: number): Pair[] | null {
  const n = a1 - a0;
  const m = b1 - b0;
  if (n === 0 || m === 0) return [];
  const max = Math.min(n + m, DISTANCE);
  const size = max + 1;
  const v = new Int32Array(2 * size + 1);
  const trace: Int32Array[] = [];
  for (let d = 0; d <= max; d++) {
    trace.push(v.slice(size - d, size + d + 1));
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || (k !== d && v[size + k - 1]! < v[size + k + 1]!) ? v[size + k + 1]! : v[size + k - 1]! + 1;
      let y = x - k;
      while (x < n && y < m && a[a0 + x] === b[b0 + y]) { x++; y++; }
      v[size + k] = x;
      if (x >= n && y >= m) return back(trace, d, n, m, a0, b0);
    }
  }
  return null;
}

function back(trace: Int32Array[], d: number, n: number, m: number, a0: number, b0: number): Pair[] {
  const out: Pair[] = [];
  let [x, y] = [n, m];
  for (; d > 0; d--) {
    const v = trace[d]!;
    const k = x - y;
    const down = k === -d || (k !== d && v[d + k - 1]! < v[d + k + 1]!);
    const fromX = v[d + (down ? k + 1 : k - 1)]!;
    const fromY = fromX - (down ? k + 1 : k - 1);
    while (x > fromX && y > fromY) out.push([a0 + --x, b0 + --y]);
    [x, y] = [fromX, fromY];
  }
  while (x > 0 && y > 0) out.push([a0 + --x, b0 + --y]);
  return out.reverse();
}

// Lines that are unique on both sides, in the longest order that both have.
function anchors(a: readonly string[], a0: number, a1: number, b: readonly string[], b0: number, b1: number): Pair[] {
  const seen = new Map<string, { a: number; b: number }>();
  for (let i = a0; i < a1; i++) seen.set(a[i]!, { a: seen.has(a[i]!) ? -1 : i, b: -2 });
  for (let j = b0; j < b1; j++) {
    const s = seen.get(b[j]!);
    if (s) s.b = s.b === -2 ? j : -1;
  }
  const pairs: Pair[] = [];
  for (const s of seen.values()) if (s.a >= 0 && s.b >= 0) pairs.push([s.a, s.b]);
  pairs.sort((p, q) => p[0] - q[0]);
  return rising(pairs);
}

function rising(pairs: Pair[]): Pair[] {
  const tops: number[] = [];
  const before: number[] = [];
  pairs.forEach(([, b], i) => {
    let [lo, hi] = [0, tops.length];
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (pairs[tops[mid]!]![1] < b) lo = mid + 1;
      else hi = mid;
    }
    before[i] = lo > 0 ? tops[lo - 1]! : -1;
    tops[lo] = i;
  });
  const out: Pair[] = [];
  for (let i = tops.length > 0 ? tops[tops.length - 1]! : -1; i >= 0; i = before[i]!) out.push(pairs[i]!);
  return out.reverse();
}

function rowsOf(a: string[], b: string[], same: Pair[]): Row[] {
  const rows: Row[] = [];
  let [i, j] = [0, 0];
  for (const [x, y] of [...same, [a.length, b.length] as Pair]) {
    const gone: Row[] = [];
    const come: Row[] = [];
    for (; i < x; i++) gone.push({ kind: "gone", old: i + 1, new: 0, spans: plain(a[i]!) });
    for (; j < y; j++) come.push({ kind: "come", old: 0, new: j + 1, spans: plain(b[j]!) });
    for (let k = 0; k < Math.min(gone.length, come.length); k++) markWords(gone[k]!, come[k]!);
    for (const r of gone) rows.push(r);
    for (const r of come) rows.push(r);
    if (x < a.length) rows.push({ kind: "same", old: ++i, new: ++j, spans: plain(a[x]!) });
  }
  return rows;
}

const plain = (text: string): Span[] => [{ text, changed: false }];

// Marks help while the lines are the same ones, changed; not when they have little in common.
function markWords(gone: Row, come: Row): void {
  const [x, y] = [gone.spans[0]!.text, come.spans[0]!.text];
  if (x.length > 2000 || y.length > 2000) return;
  const a = words(x);
  const b = words(y);
  const same = matches(a, b);
  const common = same.reduce((n, [i]) => n + (a[i]!.trim() === "" ? 0 : a[i]!.length), 0);
  if (common * 3 < Math.max(x.trim().length, y.trim().length)) return;
  gone.spans = spans(a, new Set(same.map(([i]) => i)));
  come.spans = spans(b, new Set(same.map(([, j]) => j)));
}

const words = (line: string): string[] => line.match(/[\p{L}\p{N}\p{M}_]+|\s+|[^]/gu) ?? [];

function spans(list: string[], same: Set<number>): Span[] {
  const out: Span[] = [];
  list.forEach((text, i) => {
    const changed = !same.has(i);
    const last = out[out.length - 1];
    if (last && last.changed === changed) last.text += text;
    else out.push({ text, changed });
  });
  return out;
}

function fold(rows: Row[], context: number): Hunk[] {
  const hunks: Hunk[] = [];
  const near = new Uint8Array(rows.length);
  rows.forEach((r, i) => {
    if (r.kind !== "same") near.fill(1, Math.max(0, i - context), i + context + 1);
  });
  for (let i = 0; i < rows.length; ) {
    let end = i + 1;
    while (end < rows.length && near[end] === near[i]) end++;
    // One or two hidden lines would cost as much room as the line that says so.
    const shown = near[i] === 1 || end - i <= 2;
    const last = hunks[hunks.length - 1];
    if (shown && last?.kind === "rows") last.rows.push(...rows.slice(i, end));
    else hunks.push({ kind: shown ? "rows" : "fold", rows: rows.slice(i, end) });
    i = end;
  }
  return hunks;
}
