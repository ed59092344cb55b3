import { describe, expect, test } from "vitest";
import { emptyTerminal, feed, readable, type Terminal } from "../src/message/ansi";
import { diffTexts, matches, type Row } from "../src/message/diff";
import { random } from "./random";
import { bytes, duration, head, lineCount, pieces, pretty, tail, tokens } from "../src/message/text";

const rows = (a: string, b: string): Row[] => diffTexts(a, b).hunks.flatMap((h) => h.rows);
const side = (list: Row[], kind: "gone" | "come") => list.filter((r) => r.kind !== (kind === "gone" ? "come" : "gone")).map((r) => r.spans.map((s) => s.text).join(""));

describe("diff", () => {
  test("both texts can be read from it, whatever they are", () => {
    const next = random();
    for (let round = 0; round < 300; round++) {
      const make = () => Array.from({ length: next(30) }, () => "abcdef"[next(6)]!);
      const [a, b] = [make(), make()];
      const list = rows(a.join("\n"), b.join("\n"));
      expect(side(list, "gone")).toEqual(a);
      expect(side(list, "come")).toEqual(b);
      expect(matches(a, b).length).toBe(longest(a, b));
    }
  });

  test("a text that is another altogether is replaced, in time", () => {
    const a = Array.from({ length: 5000 }, (_, i) => `old ${i}`).join("\n");
    const b = Array.from({ length: 5000 }, (_, i) => `new ${i}`).join("\n");
    const d = diffTexts(a, b);
    expect([d.added, d.removed]).toEqual([5000, 5000]);
  });

  test("a big text with changes far apart keeps what is unique in its place", () => {
    const a = Array.from({ length: 20_000 }, (_, i) => `line ${i}`);
    const b = a.flatMap((l, i) => (i % 20 === 0 ? [l + "!", "more"] : [l]));
    const d = diffTexts(a.join("\n"), b.join("\n"));
    expect([d.added, d.removed]).toEqual([2000, 1000]);
  });

  test("unchanged lines far from a change fold", () => {
    const a = Array.from({ length: 30 }, (_, i) => `l${i}`);
    const b = a.with(15, "changed");
    expect(diffTexts(a.join("\n"), b.join("\n")).hunks.map((h) => [h.kind, h.rows.length])).toEqual([["fold", 12], ["rows", 8], ["fold", 11]]);
  });

  test("changed words are marked; a line with nothing in common is not", () => {
    const [gone, come] = rows("the quick fox jumps", "the slow fox jumps");
    expect(gone!.spans).toEqual([{ text: "the ", changed: false }, { text: "quick", changed: true }, { text: " fox jumps", changed: false }]);
    expect(come!.spans[1]).toEqual({ text: "slow", changed: true });
    expect(rows("abc def", "something else")[0]!.spans).toEqual([{ text: "abc def", changed: false }]);
  });

  test("line numbers, a new file, an emptied one, line ends", () => {
    expect(rows("a\nb\n", "a\nc\nb\n").map((r) => [r.kind, r.old, r.new])).toEqual([["same", 1, 1], ["come", 0, 2], ["same", 2, 3]]);
    expect(diffTexts("", "a\nb\n")).toMatchObject({ added: 2, removed: 0 });
    expect(diffTexts("a\n", "")).toMatchObject({ added: 0, removed: 1 });
    expect(diffTexts("a\r\nb\r\n", "a\nb\n")).toMatchObject({ added: 0, removed: 0 });
  });
});

function longest(a: string[], b: string[]): number {
  let prev = new Array<number>(b.length + 1).fill(0);
  for (const x of a) {
    const now = [0];
    b.forEach((y, j) => now.push(x === y ? prev[j]! + 1 : Math.max(now[j]!, prev[j + 1]!)));
    prev = now;
  }
  return prev[b.length]!;
}

const chunks = (t: Terminal) => [...t.full, ...t.rest];
const shown = (t: Terminal) => chunks(t).flatMap((c) => c.segments.map((s) => s.text)).join("");
const styles = (text: string) => chunks(feed(emptyTerminal, text)).flatMap((c) => c.segments.map((s) => [s.text, s.style]));

describe("terminal", () => {
  test.each([
    ["colours of the palette", "\x1b[31mred\x1b[0m plain \x1b[1;92mgreen\x1b[m", [["red", { fg: 1 }], [" plain ", null], ["green", { bold: true, fg: 10 }]]],
    ["256 colours", "\x1b[38;5;196mx\x1b[48;5;4my\x1b[38;5;244mz", [["x", { fg: "rgb(255 0 0)" }], ["y", { fg: "rgb(255 0 0)", bg: 4 }], ["z", { fg: "rgb(128 128 128)", bg: 4 }]]],
    ["true colours", "\x1b[38;2;1;2;3mx\x1b[0;48:2::4:5:6my\x1b[38:2:7:8:9;3mz", [["x", { fg: "rgb(1 2 3)" }], ["y", { bg: "rgb(4 5 6)" }], ["z", { bg: "rgb(4 5 6)", fg: "rgb(7 8 9)", italic: true }]]],
    ["attributes go again", "\x1b[1;3;4;7;9ma\x1b[22;23;24;27;29mb", [["a", { bold: true, italic: true, underline: true, inverse: true, strike: true }], ["b", null]]],
    ["a style lasts over lines", "\x1b[32ma\nb\x1b[39m\nc", [["a\nb\n", { fg: 2 }], ["c", null]]],
    ["a carriage return overwrites", "progress 10%\rprogress 20%\rdone", [["doneress 20%", null]]],
    ["erasing to the end", "progress 10%\r\x1b[Kdone", [["done", null]]],
    ["erasing the line", "abc\x1b[2K\rx", [["x", null]]],
    ["backspace", "abd\bc", [["abc", null]]],
    ["Windows' line ends", "a\r\nb\r\n", [["a\nb\n", null]]],
    ["titles, links and cursors are dropped", "\x1b]0;title\x07a\x1b]8;;https://x.org\x1b\\link\x1b]8;;\x1b\\\x1b[2J\x1b[H\x1b[?25lb\x1b(B", [["alinkb", null]]],
    ["a sequence that is cut is not shown", "a\x1b[3", [["a", null]]],
    ["moving on leaves room", "a\x1b[3Cb", [["a   b", null]]],
    ["bells and nulls are dropped", "a\x07\x00b", [["ab", null]]],
    ["direction marks are shown", "a\u202eb", [["a\ufffdb", null]]],
  ])("%s", (_, text, want) => expect(styles(text)).toEqual(want));

  test("pieces of any size give what the whole gives, and full chunks stay", () => {
    const next = random();
    const bits = ["text ", "\x1b[3", "1m", "red", "\x1b[0m", "\n", "\r", "50%", "\x1b[K", "\b", "é🎉", "\x1b]0;t\x07", "\x1b[38;5;1", "00m", "a line of it\n"];
    for (let round = 0; round < 40; round++) {
      let text = "";
      let t = emptyTerminal;
      for (let i = 0; i < 400; i++) {
        text += bits[next(bits.length)]!;
        const before = t.full;
        t = feed(t, text);
        before.forEach((c, k) => expect(t.full[k]).toBe(c));
      }
      expect(JSON.stringify(chunks(t))).toBe(JSON.stringify(chunks(feed(emptyTerminal, text))));
    }
  });

  test("five megabytes are cut into chunks that are small", () => {
    const t = feed(emptyTerminal, "\x1b[32mok\x1b[0m  package of some name\n".repeat(150_000));
    expect(t.lines).toBe(150_000);
    expect(Math.max(...t.full.map((c) => c.segments.length))).toBeLessThanOrEqual(400);
    expect(shown(feed(emptyTerminal, "x".repeat(5_000_000))).length).toBe(5_000_000);
    expect(chunks(feed(emptyTerminal, "x".repeat(5_000_000))).length).toBeGreaterThan(100);
  });

  test("dark colours are made readable on the dark ground", () => {
    expect(readable("rgb(255 255 255)")).toBe("rgb(255 255 255)");
    expect(readable("rgb(0 0 120)")).not.toBe("rgb(0 0 120)");
  });
});

describe("text", () => {
  test.each([[0, "0.0 s"], [400, "0.4 s"], [3210, "3.2 s"], [12_400, "12 s"], [59_700, "1 min"], [185_000, "3 min 5 s"], [7_800_000, "2 h 10 min"]])("%d ms is %s", (ms, want) => expect(duration(ms)).toBe(want));
  test.each([[512, "512 B"], [1500, "1.5 kB"], [48_000, "48 kB"], [5_242_880, "5.2 MB"]])("%d bytes are %s", (n, want) => expect(bytes(n)).toBe(want));
  test.each([[950, "950"], [12_400, "12.4k"], [200_000, "200k"], [1_200_000, "1.2M"]])("%d tokens are %s", (n, want) => expect(tokens(n)).toBe(want));

  test("beginning and end of a text, and what is left out", () => {
    const text = "1\n2\n3\n4\n5\n";
    expect(lineCount(text)).toBe(5);
    expect(head(text, 2)).toEqual({ text: "1\n2", hidden: 3 });
    expect(tail(text, 2)).toEqual({ text: "4\n5", hidden: 3 });
    expect(head(text, 9)).toEqual({ text: "1\n2\n3\n4\n5", hidden: 0 });
    expect(tail(text, 9)).toEqual({ text: "1\n2\n3\n4\n5", hidden: 0 });
    expect(tail("", 3)).toEqual({ text: "", hidden: 0 });
    expect(tail("x\n".repeat(600_000), 2)).toEqual({ text: "x\nx", hidden: Infinity });
    expect(tail("\n", 3)).toEqual({ text: "", hidden: 0 });
    expect(head("🎉".repeat(10), 3, 5)).toEqual({ text: "🎉🎉", hidden: 1 });
    expect(tail("🎉".repeat(10), 3, 5)).toEqual({ text: "🎉🎉", hidden: 1 });
  });

  test("pieces join to the text, and what is appended changes the last only", () => {
    const text = "a line of some words\n".repeat(4000) + "z".repeat(100_000);
    const before = pieces(text);
    expect(before.join("")).toBe(text);
    const after = pieces(text + "more\n".repeat(5000));
    expect(after.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
  });

  test("JSON is indented if it is some", () => {
    expect(pretty('{"a":1}')).toBe('{\n  "a": 1\n}');
    expect(pretty('{"a":')).toBeNull();
    expect(pretty("12")).toBeNull();
  });
});
