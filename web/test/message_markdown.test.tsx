import { render } from "./render";
import { describe, expect, test } from "vitest";
import { advance, emptyBlocks, type Block, type Blocks } from "../src/message/blocks";
import { heal } from "../src/message/heal";
import { safeImage, safeLink } from "../src/message/links";
import { Markdown } from "../src/message/Markdown";
import { everything } from "./message_document";
import { random } from "./random";

const all = (b: Blocks): Block[] => [...b.groups.flat(), ...b.rest];
const plain = (b: Blocks) => all(b).map((x) => ({ ...x }));

describe("blocks", () => {
  test("every prefix: blocks before the last keep their identity, and the way there does not matter", () => {
    let prev = emptyBlocks;
    let before: Block[] = [];
    for (let n = 0; n <= everything.length; n++) {
      const text = everything.slice(0, n);
      const now = advance(prev, text);
      const list = all(now);
      expect(JSON.stringify(all(now))).toBe(JSON.stringify(all(advance(emptyBlocks, text))));
      before.forEach((b, i) => {
        const after = list[i];
        if (b.closed && i < before.length - 1 && after?.text === b.text && after.closed) expect(after).toBe(b);
      });
      [prev, before] = [now, list];
    }
  });

  test("what is closed by whole lines is never made again", () => {
    const many = Array.from({ length: 200 }, (_, i) => `Paragraph ${i}.\n\n`).join("");
    const first = advance(emptyBlocks, many);
    const second = advance(first, many + "And on");
    expect(second.groups.length).toBeGreaterThan(3);
    second.groups.forEach((g, i) => { if (i < first.groups.length) expect(g).toBe(first.groups[i]); });
  });

  test("chunks of any size give the blocks of the whole", () => {
    for (const step of [3, 17, 64, 333]) {
      let b = emptyBlocks;
      for (let n = step; n < everything.length + step; n += step) b = advance(b, everything.slice(0, n));
      expect(plain(b)).toEqual(plain(advance(emptyBlocks, everything)));
    }
  });

  test("whatever streams, however it is cut: the blocks are those of the whole, and cover it", () => {
    const next = random();
    const bits = ["word ", "\n", "\n\n", "```", "```go\n", "~~~\n", "- ", "  - ", "1. ", "> ", "# ", "| a |", "|---|\n", "    ", "\t", "**", "`", "[x](", "[a]: b\n", "\r\n", "---\n", "=", "é🎉", "<b>", "\\"];
    for (let round = 0; round < 60; round++) {
      let text = "";
      let b = emptyBlocks;
      for (let i = 0; i < 60; i++) {
        text += bits[next(bits.length)]!;
        b = advance(b, text);
        expect(JSON.stringify(all(b)), JSON.stringify(text)).toBe(JSON.stringify(all(advance(emptyBlocks, text))));
      }
      const starts = all(b).map((x) => x.start);
      expect(starts).toEqual([...starts].sort((x, y) => x - y));
      expect(new Set(starts).size).toBe(starts.length);
      for (const x of all(b)) expect(() => heal(x.text)).not.toThrow();
    }
  });

  test("a text that is replaced is read anew", () => {
    const b = advance(advance(emptyBlocks, "one\n\ntwo"), "three\n\nfour");
    expect(all(b).map((x) => x.text)).toEqual(["three", "four"]);
  });

  test.each([
    ["a fence without its end", "```go\nx := 1\n", [["code", "x := 1", false]]],
    ["a fence with no line yet", "```go", [["code", "", false]]],
    ["a longer fence holds a shorter", "````\n```\na\n```\n````\nb", [["code", "```\na\n```", true], ["prose", "b", false]]],
    ["an indented fence", "  ```\n  a\n    b\n  ```", [["code", "a\n  b", true]]],
    ["a loose list is one", "- a\n\n- b\n\n  more\n\nafter", [["prose", "- a\n\n- b\n\n  more", true], ["prose", "after", false]]],
    ["a list under a paragraph", "text:\n- a\n\n- b", [["prose", "text:\n- a\n\n- b", false]]],
    ["a year is no list", "born in\n1986. and\n\n2000. x", [["prose", "born in\n1986. and", true], ["prose", "2000. x", false]]],
    ["a fence ends a list", "1. a\n```\nx\n```\n2. b", [["prose", "1. a", true], ["code", "x", true], ["prose", "2. b", false]]],
    ["a fence in a list", "1. a\n   ```\n   x\n\n   y\n   ```\n2. b", [["prose", "1. a\n   ```\n   x\n\n   y\n   ```\n2. b", false]]],
    ["headings stand alone", "# a\ntext\n## b\n", [["prose", "# a", true], ["prose", "text", true], ["prose", "## b", true]]],
    ["Windows' line ends", "```js\r\na\r\n```\r\nb\r\n\r\nc", [["code", "a", true], ["prose", "b", true], ["prose", "c", false]]],
  ])("%s", (_, text, want) => {
    expect(all(advance(emptyBlocks, text)).map((b) => [b.kind, b.text, b.closed])).toEqual(want);
  });
});

describe("streaming", () => {
  test("no prefix throws, and no mark shows that will be gone", { timeout: 300_000 }, () => {
    const box = render(<Markdown text="" streaming />);
    for (let n = 1; n <= everything.length; n++) {
      const text = everything.slice(0, n);
      box.again(<Markdown text={text} streaming />);
      // What stands before the last two blocks has been looked at.
      const shown = [...box.firstElementChild!.children].slice(-2).map(visibleText).join("\n");
      // Literal in the document itself: escapes, the code blocks.
      expect(shown, JSON.stringify(text.slice(-30))).not.toMatch(/\]\(|\*\*(?!not)|~~|(?<!\S)`|\[half|\[link|\[x\]|\| *-/);
    }
  });

  test("what is whole is not touched", () => {
    for (const text of ["plain", "**bold** and *it*", "`code`", "[a](https://x.org)", "a * b", "snake_case", "2 * 3 * 4", "~tilde~", "costs 5$", "[1] cites", "- [x] a"]) {
      expect(heal(text)).toBe(text);
    }
  });

  test.each([
    ["**bo", "**bo**"], ["**bold*", "**bold**"], ["*it", "*it*"], ["text **", "text"], ["a `co", "a `co`"], ["a `", "a"], ["``a `b", "``a `b``"],
    ["see [text", "see text"], ["see [text](https://ex", "see text"], ["![alt](https://ex", ""], ["**a [b](c", "**a b**"], ["**a *b", "**a *b***"],
    ["~~go", "~~go~~"], ["text\n-", "text\n"], ["text\n=", "text\n"], ["- a\n- ", "- a\n"], ["> q\n> ", "> q\n>"], ["| a | b", "| a | b |\n| --- | --- |"],
    ["| a | b |\n|--", "| a | b |\n| --- | --- |"], ["- [", ""], ["snake_ca", "snake_ca"], ["***x", "***x***"],
  ])("%j becomes %j", (text, want) => {
    expect(heal(text).trimEnd()).toBe(want.trimEnd());
  });

  test("the elements of blocks before the last stay", () => {
    const box = render(<Markdown text={"one\n\ntwo\n\nthr"} streaming />);
    const [one, two] = box.querySelectorAll("p");
    box.again(<Markdown text={"one\n\ntwo\n\nthree **and"} streaming />);
    const now = box.querySelectorAll("p");
    expect(now[0]).toBe(one);
    expect(now[1]).toBe(two);
    expect(now[2]!.innerHTML).toBe("three <strong>and</strong>");
  });
});

describe("safety", () => {
  test("tags are text, wherever they stand", () => {
    const evil = `<img src=x onerror=alert(1)>\n\n<script>alert(1)</script>\n\na <b onclick=x>b</b>\n\n| <i> |\n|---|\n| <svg onload=x> |`;
    const box = render(<Markdown text={evil} />);
    expect(box.querySelector("img, script, svg, b, i")).toBeNull();
    expect(box.textContent).toContain("<script>alert(1)</script>");
  });

  test("a picture of another host is a link; a link to a script is none", () => {
    const box = render(<Markdown text={"![p](https://evil.org/p.png) [x](javascript:alert(1)) [y](data:text/html,x) [z](/v1/threads) [m](mailto:a@b.c)"} />);
    expect(box.querySelector("img")).toBeNull();
    expect([...box.querySelectorAll("a")].map((a) => [a.getAttribute("href"), a.rel])).toEqual([
      ["https://evil.org/p.png", "noopener noreferrer"], ["mailto:a@b.c", "noopener noreferrer"],
    ]);
  });

  test.each([
    ["https://a.org/", "https://a.org/"], ["HTTP://a.org", "http://a.org/"], [" javascript:alert(1)", null], ["java\nscript:x", null], ["//a.org", null], ["/x", null], ["https://", null], ["vbscript:x", null],
  ])("link %j", (href, want) => expect(safeLink(href)).toBe(want));

  test.each([
    ["data:image/png;base64,AA", true], ["data:text/html,x", false], ["https://a.org/x.png", false], ["/v1/blobs/" + "a".repeat(64), true], ["/v1/threads", false], ["//evil/x.png", false],
  ])("image %j", (src, want) => expect(safeImage(src) !== null).toBe(want));

  test("control and direction marks are shown, not obeyed", () => {
    const box = render(<Markdown text={"a\u202eb `c\u001b[31m`"} />);
    expect(box.textContent).toBe("a\ufffdb c\ufffd[31m");
  });

  test("quotes nested a thousand deep do no harm", () => {
    const box = render(<Markdown text={">".repeat(1000) + " deep\n\n" + "- ".repeat(500) + "x\n\n" + "*".repeat(5000)} />);
    expect(box.textContent).toContain("deep");
  });
});

test("character references are read, and only those", () => {
  const box = render(<Markdown text={"&lt;b&gt; &copy; &#65; &nosuchthing; &amp;amp; `&lt;`"} />);
  expect(box.textContent).toBe("<b> © A &nosuchthing; &amp; &lt;");
});

test("reference links work wherever their definition stands", () => {
  const box = render(<Markdown text={"See [it][a].\n\nMore.\n\n[a]: https://a.org/x"} />);
  expect(box.querySelector("a")?.href).toBe("https://a.org/x");
});

function visibleText(box: Element): string {
  const copy = box.cloneNode(true) as Element;
  copy.querySelectorAll("pre, .md-code").forEach((e) => e.remove());
  return copy.textContent ?? "";
}
