// Every state of every component, with data that stays the same.
import type { Context, FileDiff, Media, Part, PendingRequest, ToolCall, Turn } from "../model";

const start = Date.UTC(2026, 0, 1);

export function call(more: Partial<ToolCall> & { id: string }): ToolCall {
  return { name: "tool", title: "A tool", kind: "other", state: "done", args: "{}", startedAt: start, endedAt: start + 1400, ...more };
}

const goBefore = `package greet

import "fmt"

// Greet says hello.
func Greet(name string) string {
	if name == "" {
		name = "world"
	}
	return fmt.Sprintf("Hello, %s", name)
}

${Array.from({ length: 24 }, (_, i) => `// Line ${i} does not change.`).join("\n")}

func unused() int { return 1 }
`;

export const goDiff: FileDiff = {
  path: "internal/greet/greet.go",
  oldText: goBefore,
  newText: goBefore
    .replace('name = "world"', 'name = "everybody"')
    .replace('"Hello, %s"', '"Hello, %s!"')
    .replace("\nfunc unused() int { return 1 }\n", "\n// Names lists who was greeted.\nfunc Names() []string { return nil }\n"),
};

const esc = "\u001b[";
export const testOutput = `${esc}1m$ npm test${esc}0m

 ${esc}32m✓${esc}39m parser ${esc}2m(12 tests)${esc}22m ${esc}33m431${esc}2mms${esc}22m${esc}39m
 ${esc}32m✓${esc}39m store ${esc}2m(4 tests)${esc}22m 12ms
 ${esc}31m❯${esc}39m render ${esc}2m(3 tests | ${esc}22m${esc}31m1 failed${esc}39m${esc}2m)${esc}22m
   ${esc}31m×${esc}39m draws a long line that goes on and on until it has to be wrapped somewhere because no window is as wide as it is
     ${esc}7m expected ${esc}27m ${esc}42m 3 ${esc}49m but got ${esc}41m 4 ${esc}49m

${esc}38;2;120;80;200mtrue colour${esc}0m ${esc}38;5;208m256 colours${esc}0m ${esc}4munderlined${esc}24m ${esc}34mblue${esc}39m ${esc}90mgrey${esc}0m
Downloading 10%\rDownloading 60%\rDownloading 100%
`;

export const markdown = `## Markdown

A paragraph with **strong**, *emphasis*, ~~struck~~, \`inline code\`, a [link](https://example.org), a bare https://example.org/path and a path [greet.go](internal/greet/greet.go).

1. First, a list
2. with two levels
   - nested
   - and \`code\`

- [x] written
- [ ] read

> A quote of somebody,
> over two lines.

| Package | Lines | What it does |
|:--------|------:|:-------------|
| \`round\` | 1,204 | pairs calls and results, in the order of their declaration, on every path |
| \`agui\` | 980 | events |

\`\`\`go
// Greet says hello.
func Greet(name string) string {
	return fmt.Sprintf("Hello, %s!", name) // a line that is long enough to have to be scrolled on a telephone
}
\`\`\`

\`\`\`mermaid
graph LR
  A[Agent] --> B(agentstream)
  B --> C{Refresh?}
  C -->|yes| D[Same state]
  C -->|no| E[Live]
\`\`\`

### Right to left

مرحبا بالعالم، هذا نص من اليمين إلى اليسار مع \`code\` في داخله.

- שלום עולם
- שורה שנייה

---

![a picture](https://example.org/remote.png) is a link, because it would be fetched from elsewhere.
`;

const png =
  "data:image/svg+xml;utf8," +
  encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" width="640" height="360"><rect width="640" height="360" fill="#2f5bc4"/><circle cx="320" cy="180" r="110" fill="#f0cd80"/></svg>');
export const media: Media[] = [
  { kind: "image", src: png, name: "diagram.svg", mimeType: "image/svg+xml" },
  { kind: "audio", src: "data:audio/wav;base64,UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=", name: "note.wav" },
  { kind: "file", src: "data:text/plain,hello", name: "report.txt", mimeType: "text/plain" },
  { kind: "file", src: "https://example.org/a.pdf", name: "a.pdf", mimeType: "application/pdf" },
];

export const request: PendingRequest = {
  id: "q1", thread: "t", run: "r", toolCallId: "w1", title: "Run rm -rf build?", kind: "execute", createdAt: "2026-01-01T00:00:00Z",
  options: [{ optionId: "y", name: "Allow", kind: "allow_once" }, { optionId: "n", name: "Refuse", kind: "reject_once" }],
};

const long = Array.from({ length: 3000 }, (_, i) => `${String(i + 1).padStart(5)}  the quick brown fox jumps over the lazy dog`).join("\n");

const calls = (list: ToolCall[]): Part[] => list.map((c) => ({ type: "call", call: c }));

export const kinds: Part[] = calls([
  call({ id: "k1", kind: "read", title: "Read `internal/greet/greet.go`", args: '{"path":"internal/greet/greet.go","limit":200}', result: goBefore, locations: [{ path: "internal/greet/greet.go", line: 6 }] }),
  call({ id: "k2", kind: "search", title: "Search for `Greet\\(`", args: '{"pattern":"Greet\\\\(","path":"."}', result: "internal/greet/greet.go:6\ncmd/main.go:12", endedAt: start + 90 }),
  call({ id: "k3", kind: "fetch", title: "Fetch https://example.org/docs", args: '{"url":"https://example.org/docs"}', result: "# Docs\n\n- one\n- two with **bold**\n" }),
  call({ id: "k4", kind: "edit", title: "Edit internal/greet/greet.go", args: "{}", diffs: [goDiff] }),
  call({ id: "k5", kind: "edit", title: "Write notes.md", diffs: [{ path: "notes.md", newText: "# Notes\n\nשלום עולם\nplain\n" }] }),
  call({ id: "k6", kind: "delete", title: "Delete build/old.txt", args: '{"path":"build/old.txt"}', result: "deleted" }),
  call({ id: "k7", kind: "move", title: "Move a.go to b.go", args: '{"from":"a.go","to":"b.go"}' }),
  call({ id: "k8", kind: "execute", title: "npm test", args: '{"command":"npm test"}', output: testOutput, exitCode: 0 }),
  call({ id: "k9", kind: "think", title: "Think about the structure", args: '{"thought":"There are two ways. The first is simple."}' }),
  call({ id: "k10", kind: "other", name: "weather", title: "weather", args: '{"city":"Genève","days":3,"units":{"temp":"C"},"alerts":[]}', result: '{"temp":21,"sky":"clear","next":[{"day":"Tue","temp":19}]}' }),
  call({ id: "k11", kind: "other", title: "A tool with no arguments and no result" }),
  call({ id: "k12", kind: "other", title: "Take a picture", media: [media[0]!], result: "" }),
]);

export const states = (now: number): Part[] =>
  calls([
    call({ id: "s1", kind: "execute", title: "make build", state: "queued", args: '{"command":"make build"}', startedAt: undefined, endedAt: undefined }),
    call({ id: "s2", kind: "execute", title: "go test ./...", state: "running", args: '{"command":"go test ./..."}', output: "ok  \tround\t0.41s\nok  \tagui\t0.22s\n", startedAt: now - 12_000, endedAt: undefined }),
    call({ id: "s3", kind: "edit", title: "Write config.json", state: "running", args: '{"path":"config.json","content":"{\\n  \\"name\\": \\"half a', startedAt: now - 400, endedAt: undefined }),
    call({ id: "s4", kind: "read", title: "Read README.md", result: "# Title\n", endedAt: start + 40 }),
    call({ id: "s5", kind: "execute", title: "`go vet ./...`", state: "failed", args: '{"command":"go vet ./..."}', output: `${esc}31mvet: greet.go:7: undefined: nme${esc}0m\n`, exitCode: 1 }),
    call({ id: "s6", kind: "fetch", title: "Fetch https://example.org/gone", state: "failed", args: '{"url":"https://example.org/gone"}', result: "404 Not Found" }),
    call({ id: "s7", kind: "execute", title: "sleep 600", state: "cancelled", args: '{"command":"sleep 600"}', output: "waiting\n", endedAt: start + 61_000 }),
    call({ id: "s8", kind: "search", title: "Search the web for a very long question that will never fit on one line of any screen", state: "interrupted", args: '{"q":"x"}' }),
    call({ id: "w1", kind: "execute", title: "rm -rf build", state: "running", args: '{"command":"rm -rf build && mkdir build"}', request, startedAt: now - 5000, endedAt: undefined }),
  ]);

export const large: Part[] = calls([
  call({ id: "l1", kind: "execute", title: "seq 3000", args: '{"command":"seq 3000"}', output: long + "\n", exitCode: 0, state: "failed" }),
  call({ id: "l2", kind: "read", title: "Read big.log", state: "failed", result: long.slice(0, 2000), resultBlob: { sha256: "a".repeat(64), bytes: 5_242_880 } }),
]);

export const nested: Part[] = [
  { type: "subagent", id: "a1", name: "reviewer", state: "running", children: [
    { type: "thought", id: "a1t", text: "Look at the tests first.", streaming: false, ms: 800 },
    { type: "call", call: call({ id: "a1c", kind: "read", title: "Read greet_test.go", result: "x" }) },
    { type: "text", id: "a1x", text: "The tests cover **two of three** branches.", streaming: true },
  ] },
  { type: "subagent", id: "a2", name: "planner", state: "done", children: [{ type: "text", id: "x", text: "Done.", streaming: false }] },
  { type: "subagent", id: "a3", name: "writer", state: "interrupted", children: [{ type: "text", id: "x", text: "Half a sen", streaming: false }] },
  { type: "call", call: call({ id: "task", kind: "other", name: "Task", title: "Task: find all callers", args: '{"description":"find all callers"}', result: "Three callers." }), children: [
    { type: "call", call: call({ id: "t1", kind: "search", title: "Search for `Greet`", result: "3 files" }) },
    { type: "text", id: "tx", text: "Found three.", streaming: false },
  ] },
];

export const small: Part[] = [
  { type: "thought", id: "th1", text: "First, look at the tests.\n\nThen *change* the code.", streaming: false, ms: 3200 },
  { type: "thought", id: "th2", text: "The function is called in three places, and the last of them passes an empty name", streaming: true },
  { type: "thought", id: "th3", text: "", streaming: true },
  { type: "plan", id: "p", entries: [
    { content: "Read the code", status: "completed" }, { content: "Change the greeting, and everything that tests it, in all the languages that there are", status: "in_progress", priority: "high" },
    { content: "Run the tests", status: "pending", priority: "high" }, { content: "כתיבת מסמך", status: "pending" },
  ] },
  { type: "notice", id: "n1", level: "info", text: "The agent switched to plan mode." },
  { type: "notice", id: "n2", level: "warning", text: "90 % of the weekly limit is used." },
  { type: "notice", id: "n3", level: "error", text: "The tool server does not answer." },
  { type: "error", code: "agent_exited", message: "the agent's process ended with exit code 137" },
  { type: "error", code: "something_new", message: "" },
  ...media.map((m): Part => ({ type: "media", media: m })),
];

export const turns: Turn[] = [
  { id: "u1", role: "user", parts: [{ type: "text", id: "u1", text: "Make the greeting friendlier, please.\n\n  and keep my   spaces", streaming: false }, { type: "media", media: media[0]! }] },
  { id: "u2", role: "user", parts: [{ type: "text", id: "u2", text: long.slice(0, 3000), streaming: false }] },
  { id: "u3", role: "user", parts: [{ type: "text", id: "u3", text: "اجعل التحية أكثر ودية من فضلك", streaming: false }] },
];

export const contexts: Context[] = [
  { used: 12_400, size: 200_000 }, { used: 172_000, size: 200_000, cost: { amount: 1.234, currency: "USD" } }, { used: 198_000, size: 200_000, cost: { amount: 0.012, currency: "EUR" } }, { used: 950 },
];
