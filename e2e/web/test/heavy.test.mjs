import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { check } from "../check.mjs";
import { begin, log, message, quiet, say, shot, until } from "../page.mjs";
import { root } from "../server.mjs";

/** alive waits until the page has drawn twice and answers a key. */
const alive = (page) => page.evaluate(() => new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next))));

check("five megabytes of output: a preview, all of it when asked for", async ({ server, visitor }) => {
  const s = await server();
  const v = await visitor(s);
  const page = await begin(v, "big 5");
  await log(page).getByText("That were 5 MiB.").waitFor();
  await quiet(page);
  const size = () => page.evaluate(() => document.querySelector('[role="log"]').textContent.length);
  const card = log(page).getByRole("button", { name: /cat big.txt/ });
  if ((await card.getAttribute("aria-expanded")) !== "true") await card.click();
  assert.ok((await size()) < 200_000, "all of it is there at once");
  await log(page).getByRole("button", { name: /^(Load|Show) all/ }).click();
  await until("all of it", async () => (await size()) > 5_000_000);
  await alive(page);
  await message(page).fill("still here");
  await page.reload();
  await log(page).getByText("That were 5 MiB.").waitFor();
  assert.ok((await size()) < 200_000);
  assert.equal(await message(page).inputValue(), "still here");
});

check("twenty thousand events in one run, joined from the start and in the middle", async ({ server, visitor }) => {
  const s = await server();
  const v = await visitor(s);
  const page = await begin(v, "long 20000");
  const other = await v.open(new URL(page.url()).pathname);
  for (const p of [page, other]) {
    await quiet(p);
    await log(p).getByText("Line 20000 of 20000").last().waitFor();
    await alive(p);
  }
  const id = decodeURIComponent(new URL(page.url()).pathname.slice(3));
  const { lastRun } = await s.api("GET", `/v1/threads/${id}`);
  const events = Number(lastRun.to.split("-")[1]) - Number(lastRun.from.split("-")[1]) + 1;
  assert.ok(events > 20_000, `${events} events`);
  await say(page, "echo and still quick");
  await log(page).getByText("and still quick", { exact: true }).waitFor();
});

check("a long thread: its end at once, older pages when scrolled to, each message once", async ({ server, visitor }) => {
  const s = await server();
  for (let n = 1; n <= 30; n++) await s.say("t", [1, 2, 3].map((i) => `list\necho turn ${n} part ${i}`).join("\n"));
  const list = (await s.api("GET", "/v1/threads/t/messages")).messages;
  assert.ok(list.length > 250, `${list.length} messages`);
  const v = await visitor(s);
  const page = await v.open("/t/t");
  await log(page).getByText("turn 30 part 3", { exact: false }).last().waitFor();
  const users = () => page.evaluate(() => [...document.querySelectorAll('[role="log"] [aria-label="You"]')].map((e) => Number(/turn (\d+) /.exec(e.textContent)[1])));
  assert.ok((await users()).length < 15, "all of it was loaded");
  await until("the first turn", async () => {
    await log(page).evaluate((box) => (box.scrollTop = 0));
    return (await users())[0] === 1;
  });
  assert.deepEqual(await users(), Array.from({ length: 30 }, (_, i) => i + 1));
  await say(page, "echo the newest");
  await quiet(page);
  assert.equal(await log(page).getByText("the newest", { exact: true }).count(), 1);
});

const traces = process.env.AGENTSTREAM_TRACES ?? "";
const recording = join(traces, "claude", "perm_allow.jsonl");

if (traces && existsSync(recording)) {
  check("a recorded agent: its calls, its question, its answer", async ({ server, visitor }) => {
    const player = join(root, "bin", "player");
    const go = (...args) => execFileSync(process.env.GO ?? "go", args, { cwd: root, env: { ...process.env, CGO_ENABLED: "0", GOFLAGS: "" } }).toString();
    mkdirSync(join(root, "bin"), { recursive: true });
    go("build", "-o", player, "./e2e/recordings/player/agent");
    const s = await server({ config: `agents:\n  player:\n    command: [${player}]\npermissions: { default: ask }\n` });
    const [prompt] = JSON.parse(go("run", "./e2e/web/recorded", recording, s.cwd));
    const v = await visitor(s);
    const page = await v.open("/");
    await page.getByRole("radio", { name: /player/ }).check({ force: true });
    await say(page, prompt);
    await log(page).locator("[data-request]").waitFor();
    await shot(page, "recorded-asking");
    await log(page).locator("[data-request]").getByRole("button", { name: /allow|yes/i }).first().click();
    await quiet(page);
    const before = await page.evaluate(() => document.querySelectorAll('[role="log"] [data-turn]').length);
    assert.ok(before >= 2);
    await shot(page, "recorded");
    await page.reload();
    await quiet(page);
    await until("the same turns", async () => (await page.evaluate(() => document.querySelectorAll('[role="log"] [data-turn]').length)) === before);
  });
}
