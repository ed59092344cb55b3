import { afterEach, expect, test, vi } from "vitest";
import { follow } from "../src/store/feed";

afterEach(() => vi.unstubAllGlobals());

/** A server that answers when the test lets it. */
function serve() {
  const asked: { url: URL; answer: (body: unknown) => void; fail: () => void }[] = [];
  const waiting: (() => void)[] = [];
  vi.stubGlobal("fetch", (input: string) =>
    new Promise<Response>((done, lost) => {
      asked.push({ url: new URL(input, "http://localhost"), answer: (body) => done(Response.json(body)), fail: () => lost(new TypeError("gone")) });
      for (const go of waiting.splice(0)) go();
    }));
  const nth = async (n: number) => {
    while (asked.length <= n) await new Promise<void>((go) => waiting.push(go));
    return asked[n]!;
  };
  return { asked, nth };
}

test("the feed tells of changes alone, and begins anew after a failure", async () => {
  const { nth } = serve();
  const changed = vi.fn();
  follow(changed);
  const first = await nth(0);
  expect(first.url.searchParams.has("wait")).toBe(false);
  first.answer({ threads: [], cursor: "a" });
  const second = await nth(1);
  expect(changed).toHaveBeenCalledTimes(1);
  expect(second.url.searchParams.get("since")).toBe("a");
  second.answer({ threads: [], cursor: "a" }); // the time was up
  const third = await nth(2);
  expect(changed).toHaveBeenCalledTimes(1);
  third.answer({ threads: [], cursor: "b" });
  const fourth = await nth(3);
  expect(changed).toHaveBeenCalledTimes(2);
  fourth.fail();
  const fifth = await nth(4);
  expect(fifth.url.searchParams.has("since")).toBe(false);
  fifth.answer({ threads: [], cursor: "b" });
  await nth(5);
  expect(changed).toHaveBeenCalledTimes(3);
});
