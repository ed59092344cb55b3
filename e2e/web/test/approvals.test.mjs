import assert from "node:assert/strict";
import { check } from "../check.mjs";
import { begin, log, message, phone, quiet, say, shot, threadOf, until, wide } from "../page.mjs";

const asked = (page) => log(page).locator("[data-request]");
const gone = (page) => until("no question", async () => (await asked(page).count()) === 0);

check("a question is asked in place, and answered by a click in another tab", async ({ server, visitor }) => {
  const s = await server();
  const v = await visitor(s);
  const page = await begin(v, "write out.txt hello");
  await asked(page).waitFor();
  assert.match(await page.title(), /needs you/);
  await page.getByRole("navigation", { name: "Threads" }).getByRole("link").filter({ hasText: "needs you" }).waitFor();
  await shot(page, "approval");
  const other = await visitor(s, { viewport: phone });
  const second = await other.open(new URL(page.url()).pathname);
  await asked(second).waitFor();
  await shot(second, "approval-phone");
  await asked(second).getByRole("button", { name: /allow/i }).first().click();
  await log(page).getByText("I have written").waitFor();
  await log(second).getByText("I have written").waitFor();
  await gone(page);
  await gone(second);
  await quiet(page);
  await until("a quiet title", async () => !/needs you/.test(await page.title()));
});

check("answers by the keyboard: by its number, refused, two at once", async ({ server, visitor }) => {
  const s = await server();
  const v = await visitor(s);
  const page = await begin(v, "write out.txt hello");
  await asked(page).waitFor();
  await page.keyboard.press("Alt+a");
  const names = await asked(page).getByRole("button").allInnerTexts();
  const refuse = names.findIndex((n) => /reject|refuse|deny|no/i.test(n)) + 1;
  assert.ok(refuse > 0, `no refusal among ${names}`);
  await page.keyboard.press(String(refuse));
  await gone(page);
  await quiet(page);
  await say(page, "two questions");
  await until("two questions", async () => (await asked(page).count()) === 2);
  await shot(page, "approvals-two");
  await page.reload();
  await until("two questions", async () => (await asked(page).count()) === 2);
  for (const left of [1, 0]) {
    await asked(page).first().focus();
    await page.keyboard.press("1");
    await until("one less", async () => (await asked(page).count()) <= left);
  }
  await log(page).getByText("You allowed 2 of 2.").waitFor();
});

check("a form is filled in", async ({ server, visitor }) => {
  const s = await server();
  const v = await visitor(s);
  const page = await begin(v, "ask me");
  await asked(page).waitFor();
  await asked(page).getByRole("textbox", { name: /name/i }).fill("Ada");
  await asked(page).getByRole("combobox").selectOption("green");
  await shot(page, "form");
  await asked(page).getByRole("button", { name: "Send" }).click();
  await log(page).getByText(/Hello, Ada/).waitFor();
  await gone(page);
});

check("questions of other threads: a tray, a notification of a page that is not seen", async ({ server, visitor }) => {
  const s = await server();
  const v = await visitor(s);
  await v.context.addInitScript(() => {
    window.told = [];
    window.Notification = class {
      static permission = "granted";
      static requestPermission = async () => "granted";
      constructor(title, o) {
        window.told.push(`${title}: ${o.body}`);
      }
      close() {}
    };
  });
  const page = await begin(v, "echo here");
  await quiet(page);
  await page.evaluate(() => Object.defineProperty(document, "hidden", { configurable: true, get: () => true }));
  await s.say("elsewhere", "write there.txt hello");
  const tray = page.getByRole("region", { name: "Approvals" });
  await tray.waitFor();
  await until("a notification", () => page.evaluate(() => window.told.length === 1 && window.told[0]));
  await page.evaluate(() => Object.defineProperty(document, "hidden", { configurable: true, get: () => false }));
  await tray.getByRole("button", { name: /other thread/ }).click();
  await tray.locator("[data-request]").waitFor();
  await shot(page, "tray");
  await tray.getByRole("button", { name: /allow/i }).first().click();
  await tray.waitFor({ state: "hidden" });
  await until("its end", async () => (await s.api("GET", "/v1/threads/elsewhere")).lastRun.state === "finished");
});

check("a question that the server forgets goes with a reason", async ({ server, visitor }) => {
  const s = await server();
  const v = await visitor(s);
  const page = await begin(v, "write out.txt hello");
  await asked(page).waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await gone(page);
  await quiet(page);
  await say(page, "echo it goes on");
  await log(page).getByText("it goes on", { exact: true }).waitFor();
});
