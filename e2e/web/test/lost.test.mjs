import assert from "node:assert/strict";
import { check } from "../check.mjs";
import { begin, log, message, quiet, say, shot, story, threadOf, until } from "../page.mjs";

const seed = Number(process.env.AGENTSTREAM_SEED ?? 20261201);

/** random gives the same numbers for the same seed. */
function random(state = seed) {
  return (n) => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return Math.floor((state / 4294967296) * n);
  };
}

const connection = (page) => page.getByRole("status", { name: "Connection" }).filter({ visible: true }).first();

check("refreshed at random moments, with a second tab: nothing is lost", async ({ server, visitor, log: note }) => {
  note(`seed ${seed}`);
  const pick = random();
  const s = await server({ pace: 30 });
  const v = await visitor(s);
  const page = await begin(v, "think, list, diff, long 120");
  const second = await v.open(new URL(page.url()).pathname);
  let line = 1;
  for (let n = 0; n < 5; n++) {
    line += 1 + pick(20);
    await log(page).getByText(`Line ${line} of 120`).waitFor();
    await page.reload();
  }
  for (const p of [page, second]) {
    await log(p).getByText("Line 120 of 120").waitFor();
    await quiet(p);
  }
  const whole = await story(page);
  assert.deepEqual(await story(second), whole, "the tabs differ");
  assert.equal(whole.filter((l) => l.includes("Line 77 of 120")).length, 1);
  await page.reload();
  await log(page).getByText("Line 120 of 120").waitFor();
  assert.deepEqual(await story(page), whole, "a reload shows something else");
});

check("offline and back: what was missed comes, the place and the draft stay", async ({ server, visitor }) => {
  const s = await server({ pace: 60 });
  const v = await visitor(s);
  const page = await begin(v, "long 150");
  await log(page).getByText("Line 5 of 150").waitFor();
  v.away = true;
  await v.context.setOffline(true);
  await connection(page).getByText("Offline").waitFor();
  await message(page).fill("typed while away");
  await shot(page, "offline");
  await until("the end, unseen", async () => (await s.api("GET", `/v1/threads/${threadOf(page)}`)).state === "idle");
  await v.context.setOffline(false);
  await log(page).getByText("Line 150 of 150").waitFor();
  await quiet(page);
  await connection(page).getByText("Live").waitFor();
  assert.equal(await message(page).inputValue(), "typed while away");
  const lines = await story(page);
  for (const n of [1, 6, 75, 149]) assert.equal(lines.filter((l) => new RegExp(`Line ${n} of 150`).test(l)).length, 1, `line ${n}`);
});

check("kill -9 of the server, and one that stops in peace", async ({ server, visitor }) => {
  const s = await server({ pace: 100 });
  const v = await visitor(s);
  const page = await begin(v, "long 2000");
  await log(page).getByText("Line 8 of 2000").waitFor();
  v.away = true;
  await s.kill();
  await connection(page).getByText("Offline").waitFor();
  await s.again();
  await log(page).getByText(/died|lost/i).first().waitFor();
  await quiet(page);
  await shot(page, "killed");
  await say(page, "echo and on it goes");
  await log(page).getByText("and on it goes", { exact: true }).waitFor();
  await quiet(page);
  await s.term();
  await connection(page).getByText("Offline").waitFor();
  await s.again();
  await connection(page).getByText("Live").waitFor();
  await say(page, "echo once more");
  await log(page).getByText("once more", { exact: true }).waitFor();
});

check("the reader's place is kept over a reload", async ({ server, visitor }) => {
  const s = await server();
  for (const n of [1, 2, 3]) await s.say("t", `long ${100 + n}`);
  const v = await visitor(s);
  const page = await v.open("/t/t");
  await log(page).getByText("Line 103 of 103").waitFor();
  const inView = () => log(page).evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight < 80);
  await until("the end in view", inView);
  await log(page).getByText("Line 40 of 102").scrollIntoViewIfNeeded();
  await page.getByRole("button", { name: "Latest" }).waitFor();
  const top = () => log(page).getByText("Line 40 of 102").evaluate((e) => Math.round(e.getBoundingClientRect().top));
  const before = await until("a still page", async () => {
    const a = await top();
    await page.evaluate(() => new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next))));
    return (await top()) === a && a;
  });
  await page.reload();
  await log(page).getByText("Line 40 of 102").waitFor();
  await until("the same place", async () => Math.abs((await top()) - before) < 40);
  await page.getByRole("button", { name: "Latest" }).click();
  await until("the end in view", inView);
});

check("a token that is another one now: the page says how to sign in", async ({ server, visitor }) => {
  const s = await server();
  const v = await visitor(s);
  const page = await begin(v, "echo hi");
  await quiet(page);
  await v.context.clearCookies();
  v.faults.length = 0;
  await page.reload();
  await page.getByRole("heading", { name: "You are not signed in" }).waitFor();
  await shot(page, "signed-out");
  v.faults = v.faults.filter((f) => !f.includes("401"));
});
