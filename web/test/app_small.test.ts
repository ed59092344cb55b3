import { expect, test } from "vitest";
import { ago } from "../src/app/ago";
import { attach, contentOf } from "../src/app/attach";
import { wordAt } from "../src/app/useSuggestions";

test.each([
  ["/", 1, { kind: "command", from: 0, word: "" }],
  ["/he", 3, { kind: "command", from: 0, word: "he" }],
  ["/help me", 8, undefined],
  ["see /x", 6, undefined],
  ["@", 1, { kind: "file", from: 0, word: "" }],
  ["look at @src/ma and", 15, { kind: "file", from: 8, word: "src/ma" }],
  ["mail@example", 12, undefined],
  ["@a b", 4, undefined],
])("what is being typed in %j at %d", (text, caret, want) => {
  expect(wordAt(text, caret)).toEqual(want);
});

test("how long ago", () => {
  const at = Date.UTC(2026, 0, 1);
  const minute = 60_000;
  expect([0, 59_000, minute, 59 * minute, 60 * minute, 47 * 60 * minute, 13 * 24 * 60 * minute, 30 * 24 * 60 * minute, -5000].map((ms) => ago(at, at + ms))).toEqual([
    "now", "now", "1 min", "59 min", "1 h", "1 d", "13 d", "2026-01-01", "now",
  ]);
});

test("files become content parts; text alone stays text", async () => {
  expect(contentOf("hi", [])).toBe("hi");
  const a = await attach(new File([new Uint8Array([1, 2, 3])], "x.png", { type: "image/png" }));
  expect(contentOf("", [a])).toEqual([{ type: "image", source: { type: "data", value: "AQID", mimeType: "image/png" }, metadata: { name: "x.png" } }]);
  const text = await attach(new File(["plain"], "Makefile"));
  expect(contentOf("read", [text])).toMatchObject([{ type: "text", text: "read" }, { type: "document", source: { mimeType: "text/plain" } }]);
  const large = new File([], "big.bin");
  Object.defineProperty(large, "size", { value: 30 << 20 });
  await expect(attach(large)).rejects.toThrow("larger than 20 MB");
});
