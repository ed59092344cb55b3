import assert from "node:assert/strict";
import { check } from "../check.mjs";
import { begin, log, message, quiet, say, shot, story, threadOf, until } from "../page.mjs";

const card = (page, title) => log(page).getByRole("button", { name: title });

check("an answer streams as Markdown", async ({ server, visitor }) => {
  const s = await server({ pace: 60 });
  const v = await visitor(s);
  const page = await begin(v, "think, markdown");
  await log(page).getByText("Thinking").or(log(page).getByRole("button", { name: /^Thought for/ })).first().waitFor();
  await log(page).getByRole("heading", { name: "A heading" }).waitFor();
  await quiet(page);
  await log(page).getByRole("table").waitFor();
  assert.deepEqual(await log(page).getByRole("row").allInnerTexts().then((rows) => rows.map((r) => r.split(/\s+/).join(" "))), ["agent chunks", "demo 25", "other 50"]);
  assert.match(await log(page).locator("pre").first().innerText(), /func main/);
  await log(page).locator("pre code span, pre span").first().waitFor(); // highlighted, which is loaded when needed
  const link = log(page).getByRole("link", { name: "link" });
  assert.match(await link.getAttribute("rel"), /noopener/);
  await log(page).getByRole("button", { name: /^Copy/ }).first().click();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /func main|markdown|A heading/);
  await log(page).getByRole("button", { name: /^Thought for/ }).click();
  await shot(page, "markdown-thought-open");
});

check("each kind of tool call has its card", async ({ server, visitor }) => {
  const s = await server();
  const v = await visitor(s);
  const page = await begin(v, "list, diff");
  await quiet(page);
  await card(page, /List files/).waitFor();
  await card(page, /Edit greeting.txt/).waitFor();
  await log(page).getByText("How are you?").waitFor();
  await say(page, "exec, fail, parallel");
  await log(page).getByText("All three have ended").waitFor();
  await quiet(page);
  assert.match(await card(page, /make test/).innerText(), /Failed/);
  await card(page, /make greet/).click();
  await log(page).getByText("Exit code 0").waitFor();
  const green = await log(page).getByText("ok", { exact: true }).first().evaluate((e) => getComputedStyle(e).color);
  const plain = await log(page).getByText("hello", { exact: false }).last().evaluate((e) => getComputedStyle(e).color);
  assert.notEqual(green, plain, "the terminal has no colour");
  for (const what of ["alpha", "beta", "gamma"]) await card(page, `Search for ${what}`).waitFor();
  await say(page, "plan, notice, image, subagent");
  await log(page).getByText("The helper says there are three.").waitFor();
  await quiet(page);
  await log(page).getByText("3 of 3").waitFor();
  await log(page).getByText("The demo's model is busy.").waitFor();
  await page.waitForFunction(() => [...document.querySelectorAll('[role="log"] img')].some((i) => i.naturalWidth > 0));
  await card(page, /Ask a helper/).waitFor();
  await card(page, /Count files/).waitFor();
  await say(page, "emoji, unsafe, usage");
  await log(page).getByText("tokens of my context window").waitFor();
  await quiet(page);
  assert.equal(await log(page).locator("script, iframe, object").count(), 0);
  assert.deepEqual(await log(page).getByRole("link").evaluateAll((all) => all.map((a) => new URL(a.href).protocol).filter((p) => !["http:", "https:", "mailto:"].includes(p))), []);
  const before = await story(page);
  assert.equal(before.filter((line) => line.startsWith("You:")).length, 4);
  await page.reload();
  await quiet(page);
  await log(page).getByText("tokens of my context window").waitFor();
  assert.deepEqual(await story(page), before, "a reload shows something else");
});

check("threads: states, search, rename, delete, drafts", async ({ server, visitor }) => {
  const s = await server({ pace: 100 });
  await s.say("quick", "echo the first one");
  await s.say("broken", "error");
  await s.say("asking", "write a.txt");
  await s.say("busy", "silent 100", { wait: false });
  const v = await visitor(s);
  const page = await v.open("/");
  const list = page.getByRole("navigation", { name: "Threads" });
  for (const [name, state] of [[/echo the first one/, "done"], [/error/, "failed"], [/write a.txt/, "needs you"], [/silent 100/, "running"]]) {
    await list.getByRole("link", { name }).filter({ hasText: state }).waitFor();
  }
  await shot(page, "threads");
  await page.getByRole("searchbox", { name: "Search threads" }).fill("first");
  await list.getByRole("link", { name: /error/ }).waitFor({ state: "hidden" });
  await list.getByRole("link", { name: /first one/ }).click();
  await log(page).getByText("the first one", { exact: true }).waitFor();
  await page.getByRole("searchbox", { name: "Search threads" }).fill("");
  await page.getByRole("button", { name: "Rename thread" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill("A better name");
  await page.getByRole("button", { name: "Rename", exact: true }).click();
  await list.getByRole("link", { name: /A better name/ }).waitFor();
  await page.getByRole("heading", { name: "A better name", level: 1 }).waitFor();
  await message(page).fill("not yet");
  await list.getByRole("link", { name: /error/ }).click();
  await log(page).getByText(/error/i).first().waitFor();
  assert.equal(await message(page).inputValue(), "");
  await list.getByRole("link", { name: /A better name/ }).click();
  await page.reload();
  await log(page).getByText("the first one", { exact: true }).waitFor();
  assert.equal(await message(page).inputValue(), "not yet", "the draft is gone");
  // What runs is listed as changed by somebody else.
  await s.api("PATCH", "/v1/threads/broken", { title: "Renamed elsewhere" });
  await list.getByRole("link", { name: /Renamed elsewhere/ }).waitFor();
  await list.getByRole("link", { name: /silent 100/ }).click();
  await page.getByRole("button", { name: "Delete thread" }).click();
  await page.getByRole("button", { name: "Stop and delete" }).click();
  await list.getByRole("link", { name: /silent 100/ }).waitFor({ state: "hidden" });
  const left = await s.api("GET", "/v1/threads");
  assert.deepEqual(left.threads.map((t) => t.id).sort(), ["asking", "broken", "quick"]);
});

check("stop, queue, retry, edit", async ({ server, visitor }) => {
  const s = await server({ pace: 100 });
  const v = await visitor(s);
  const page = await begin(v, "long 5000");
  await log(page).getByText("Line 3 of 5000").waitFor();
  await message(page).fill("echo from the queue");
  await page.getByRole("button", { name: "Queue", exact: true }).click();
  const queue = page.getByRole("region", { name: "Queue" });
  await queue.getByText("echo from the queue").waitFor();
  await message(page).fill("echo never");
  await message(page).press("Enter");
  await queue.getByRole("button", { name: /Remove from the queue: echo never/ }).click();
  await queue.getByText("echo never").waitFor({ state: "hidden" });
  await shot(page, "queue");
  await page.getByRole("button", { name: "Stop" }).click();
  await log(page).getByText("from the queue", { exact: true }).waitFor();
  await quiet(page);
  assert.equal(await log(page).getByText("never", { exact: true }).count(), 0); // nobody answered it
  await say(page, "error");
  await until("the first failure", async () => (await s.api("GET", `/v1/threads/${threadOf(page)}`)).lastRun.state === "failed");
  await quiet(page);
  await log(page).getByRole("button", { name: /retry|try again/i }).click();
  const failed = await until("the second failure", async () => {
    const runs = (await s.api("GET", `/v1/threads/${threadOf(page)}/runs`)).runs.filter((r) => r.state === "failed");
    return runs.length === 2 && runs;
  });
  await quiet(page);
  assert.equal(failed[1].parent, failed[0].id, "a retry names the run that it tries again");
  const asked = log(page).getByRole("group", { name: "You" }).filter({ hasText: "error" }).last();
  await asked.hover();
  await asked.getByRole("button", { name: "Edit message" }).click();
  assert.equal(await message(page).inputValue(), "error");
});

check("commands, models and modes, files by drop and paste", async ({ server, visitor }) => {
  const s = await server();
  const v = await visitor(s);
  const page = await begin(v, "echo hi");
  await quiet(page);
  await message(page).pressSequentially("/mark");
  await page.getByRole("listbox", { name: "Commands" }).getByRole("option", { name: /markdown/ }).waitFor();
  await message(page).press("Enter");
  await message(page).press("Enter");
  await log(page).getByRole("heading", { name: "A heading" }).waitFor();
  await quiet(page);
  const modes = page.getByRole("combobox", { name: "Mode", exact: true });
  const mode = await modes.locator("option").nth(1).getAttribute("value");
  await modes.selectOption(mode);
  await until("the mode", async () => (await s.api("GET", `/v1/threads/${threadOf(page)}`)).modes.current === mode);
  const png = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
  await page.locator("input[type=file]").setInputFiles([{ name: "dot.png", mimeType: "image/png", buffer: png }, { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("some notes") }]);
  await page.getByRole("list", { name: "Attachments" }).getByText("notes.txt").waitFor();
  await page.getByRole("button", { name: "Remove notes.txt" }).click();
  await say(page, "echo with a picture");
  await quiet(page);
  await page.waitForFunction(() => [...document.querySelectorAll('[aria-label="You"] img')].some((i) => i.naturalWidth > 0));
});
