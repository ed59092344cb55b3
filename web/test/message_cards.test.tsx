import axe from "axe-core";
import { act } from "react";
import { afterEach, describe, expect, test, vi } from "vitest";
import { call, goDiff, media, request, testOutput } from "../src/gallery/data";
import { Gallery } from "../src/gallery/Gallery";
import { CodeBlock } from "../src/message/Code";
import { TurnView } from "../src/message/TurnView";
import { UsageBar } from "../src/message/UsageBar";
import type { CallState, Part, PendingRequest, ToolCall } from "../src/model";
import { render } from "./render";

// What jsdom lacks and a diagram wants.
vi.stubGlobal("matchMedia", () => Object.assign(new EventTarget(), { matches: false }));
vi.stubGlobal("Worker", class extends EventTarget { postMessage() {} terminate() {} });

afterEach(() => document.body.replaceChildren());

const turn = (...parts: Part[]) => ({ id: "t", role: "assistant" as const, parts });
const card = (more: Partial<ToolCall>) => render(<TurnView turn={turn({ type: "call", call: call({ id: "c", ...more }) })} />);
const click = (e: Element | null | undefined) => act(async () => (e as HTMLElement).click());
const button = (box: Element, name: RegExp) => [...box.querySelectorAll("button")].find((b) => name.test(b.getAttribute("aria-label") ?? b.textContent ?? b.querySelector("svg")?.getAttribute("aria-label") ?? ""));

describe("calls", () => {
  test.each<[CallState, string]>([["queued", "Queued"], ["running", "Running"], ["failed", "Failed"], ["cancelled", "Cancelled"], ["interrupted", "Interrupted"]])(
    "%s is said in words and by a sign of its own", (state, word) => {
      const mark = card({ state }).querySelector(".state")!;
      expect(mark.textContent).toContain(word);
      expect(mark.querySelector(`.icon-${state}`)).not.toBeNull();
    });

  test("done is said to who cannot see it", () => {
    expect(card({ state: "done" }).querySelector(".state svg")!.getAttribute("aria-label")).toBe("Done");
  });

  test.each<[string, Partial<ToolCall>, boolean]>([
    ["a reading", { kind: "read", result: "x" }, false],
    ["an edit", { kind: "edit", diffs: [goDiff] }, true],
    ["a failure", { state: "failed", result: "no" }, true],
    ["a question", { state: "running", request }, true],
    ["a command that ended before anybody looked", { kind: "execute", output: "x" }, false],
    ["a command with live output", { kind: "execute", state: "running", output: "x" }, true],
  ])("%s: open %#", (_, more, open) => {
    expect(card(more).querySelector(".fold-head")!.getAttribute("aria-expanded")).toBe(String(open));
  });

  test("what the reader folded stays so when the call ends; what was watched stays open", async () => {
    const at = (more: Partial<ToolCall>) => <TurnView turn={turn({ type: "call", call: call({ id: "c", kind: "execute", ...more }) })} />;
    const box = render(at({ state: "running", output: "a" }));
    box.again(at({ state: "done", output: "a" }));
    expect(box.querySelector(".fold-body")).not.toBeNull();
    await click(box.querySelector(".fold-head"));
    box.again(at({ state: "failed", output: "a" }));
    expect(box.querySelector(".fold-body")).toBeNull();
  });

  test("a call with nothing to show has nothing to unfold", () => {
    expect(card({}).querySelector("button")).toBeNull();
  });

  test("the card of a question stands in its call", () => {
    const renderApproval = (r: PendingRequest) => <p className="asked">{r.title}</p>;
    const box = render(<TurnView turn={turn({ type: "call", call: call({ id: "c", state: "running", request }) })} renderApproval={renderApproval} />);
    expect(box.querySelector(".card .asked")!.textContent).toBe(request.title);
    expect(box.querySelector(".state")!.textContent).toBe("Needs you");
  });

  test("a command is shown with its output in colour and its exit code", () => {
    const box = card({ kind: "execute", state: "failed", args: '{"command":"npm test"}', output: testOutput, exitCode: 1 });
    expect(box.querySelector(".command")!.textContent).toBe("npm test");
    expect(box.querySelector(".term .tf2")!.textContent).toBe("✓");
    expect(box.querySelector(".exit")!.textContent).toBe("Exit code 1");
    expect(box.textContent).not.toContain("\u001b");
  });

  test("cut arguments are shown as they come", async () => {
    const box = card({ state: "running", args: '{"path":"a.txt","content":"half a' });
    await click(box.querySelector(".fold-head"));
    expect(box.querySelector(".code")!.textContent).toContain('{"path":"a.txt","content":"half a');
  });

  test("an edit shows its diff once, not the agent's repetition of it", () => {
    const box = card({ kind: "edit", diffs: [goDiff], result: "--- a\n+++ b\n@@ -1 +1 @@" });
    expect(box.querySelectorAll(".diff").length).toBe(1);
    expect(box.querySelector(".plain")).toBeNull();
    expect(box.querySelector(".diff-row.come .diff-mark")!.textContent).toBe("everybody");
  });
});

test("an edit that is shown as told and as done is one change", () => {
  const told = { path: "a.txt", oldText: "alpha", newText: "ALPHA" };
  const done = { path: "a.txt", oldText: "alpha beta\ngamma\n", newText: "ALPHA beta\ngamma\n" };
  const box = card({ kind: "edit", diffs: [told, done] });
  expect(box.querySelectorAll(".diff").length).toBe(1);
  expect(box.querySelector(".fold-head")!.textContent).not.toContain("files");
  expect(card({ kind: "edit", diffs: [told, { ...told, oldText: "beta", newText: "BETA" }] }).querySelectorAll(".diff").length).toBe(2);
  expect(card({ kind: "edit", diffs: [told, { ...told, path: "b.txt" }] }).querySelector(".fold-head")!.textContent).toContain("2 files");
});

test("a title that is a file alone gets its verb", () => {
  expect(card({ kind: "read", title: "a.txt" }).querySelector(".fold-head")!.textContent).toMatch(/^Reada\.txt/);
  expect(card({ kind: "read", title: "Read a.txt" }).querySelector(".card-verb")).toBeNull();
});

test("what an argument says is not said again", () => {
  const box = card({ kind: "read", state: "failed", args: '{"filePath":"/w/a.txt","path":"/w/a.txt"}', locations: [{ path: "/w/a.txt", line: 1 }] });
  expect(box.querySelector(".args")!.textContent).toBe("filePath/w/a.txt");
  expect(box.querySelector(".locations")).toBeNull();
});

describe("large results", () => {
  const long = Array.from({ length: 500 }, (_, i) => `line ${i}`).join("\n");

  test("some lines, then all, then some", async () => {
    const box = card({ state: "failed", kind: "execute", output: long });
    expect(box.querySelector(".term")!.textContent).not.toContain("line 100\n");
    expect(box.querySelector(".term")!.textContent).toContain("line 499");
    await click(button(box, /Show all 500 lines/));
    expect(box.querySelector(".term")!.textContent).toContain("line 100\n");
    await click(button(box, /Show less/));
    expect(box.querySelector(".term")!.textContent).not.toContain("line 100\n");
  });

  test("a blob is fetched when asked for, and a failure can be tried again", async () => {
    const loadBlob = vi.fn().mockRejectedValueOnce(new Error("The server answered 500.")).mockResolvedValueOnce("all of it\n".repeat(20));
    const blob = { sha256: "ab", bytes: 5_000_000 };
    const box = render(<TurnView turn={turn({ type: "call", call: call({ id: "c", state: "failed", result: "preview", resultBlob: blob }) })} loadBlob={loadBlob} />);
    expect(loadBlob).not.toHaveBeenCalled();
    await click(button(box, /Load all \(5\.0 MB\)/));
    expect(box.querySelector("[role=alert]")!.textContent).toBe("The server answered 500.");
    await click(button(box, /Load all/));
    expect(box.querySelector(".plain")!.textContent).toContain("all of it");
    expect(loadBlob.mock.calls[1]![0]).toEqual(blob);
  });
});

test("code can be copied, and says so", async () => {
  const writeText = vi.fn().mockResolvedValue(undefined);
  Object.defineProperty(navigator, "clipboard", { value: { writeText }, configurable: true });
  const box = render(<CodeBlock code={"a\tb"} lang="" open={false} />);
  await click(box.querySelectorAll("button")[1]);
  expect(writeText).toHaveBeenCalledWith("a\tb");
  expect(box.querySelector("[role=status]")!.textContent).toBe("Copied");
});

test("parts of a kind each have their form", () => {
  const box = render(
    <TurnView turn={turn(
      { type: "thought", id: "1", text: "a\nlast **line**", streaming: true },
      { type: "thought", id: "2", text: "a", streaming: false, ms: 3210 },
      { type: "plan", id: "3", entries: [{ content: "a", status: "completed" }, { content: "b", status: "pending" }] },
      { type: "notice", id: "4", level: "warning", text: "careful" },
      { type: "error", code: "agent_exited", message: "it ended" },
      { type: "media", media: media[0]! },
      { type: "media", media: { kind: "image", src: "https://example.org/x.png", name: "remote" } },
      { type: "subagent", id: "5", name: "helper", state: "running", children: [{ type: "text", id: "6", text: "I *help*", streaming: false }] },
    )} />,
  );
  expect(box.querySelector(".thought-last")!.textContent).toBe("last line");
  expect(box.querySelectorAll(".thought")[1]!.textContent).toBe("Thought for 3.2 s");
  expect(box.querySelector(".plan-head")!.textContent).toBe("Plan1 of 2");
  expect(box.querySelector(".notice svg")!.getAttribute("aria-label")).toBe("Warning:");
  expect(box.querySelector(".error")!.textContent).toMatch(/it ended.*process ended.*agent_exited/s);
  expect([...box.querySelectorAll("img")].map((i) => i.alt)).toEqual(["diagram.svg"]);
  expect(box.querySelector("a.media-file")!.getAttribute("href")).toBe("https://example.org/x.png");
  expect(box.querySelector(".subagent em")!.textContent).toBe("help");
});

test("use of the context window", () => {
  const box = render(<UsageBar context={{ used: 172_000, size: 200_000, cost: { amount: 1.234, currency: "USD" } }} />);
  expect(box.textContent).toBe("172k / 200k$1.23");
  expect(box.querySelector("[role=meter]")!.getAttribute("aria-valuenow")).toBe("86");
  expect(render(<UsageBar context={{ used: 950, cost: { amount: 1, currency: "credits" } }} />).textContent).toBe("950 tokens1.00 credits");
});

test("axe finds nothing in the gallery, with all unfolded", async () => {
  const box = render(<Gallery />);
  for (let round = 0; round < 3; round++) for (const b of box.querySelectorAll('button.fold-head[aria-expanded="false"]')) await click(b);
  // jsdom computes no layout, so contrast is the browser suite's.
  const found = await axe.run(box, { rules: { "color-contrast": { enabled: false }, region: { enabled: false } } });
  expect(found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 120)).join(" ")}`)).toEqual([]);
});
