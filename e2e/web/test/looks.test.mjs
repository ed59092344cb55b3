import assert from "node:assert/strict";
import { check } from "../check.mjs";
import { audit, broken } from "../looks.mjs";
import { log, message, phone, quiet, say, shot, until, wide } from "../page.mjs";

const first = (page) => log(page).evaluate((box) => (box.scrollTop = 0));

/** Each view of web/screens.md: how one gets there from a page that has just been opened. */
const views = {
  new: { path: "/", go: (page) => page.getByRole("radio").first().waitFor() },
  markdown: { path: "/t/words", go: async (page) => (await log(page).getByRole("table").waitFor(), first(page)) },
  tools: { path: "/t/tools", go: async (page) => {
    await log(page).getByText("All three have ended").waitFor();
    await log(page).getByRole("button", { name: /make greet/ }).click();
    await log(page).getByText("Exit code 0").waitFor();
    await first(page);
  } },
  shown: { path: "/t/shown", go: (page) => log(page).getByText("The helper says there are three.").waitFor() },
  errors: { path: "/t/errors", go: (page) => log(page).getByText(/agent_exited|ended|died/i).first().waitFor() },
  asking: { path: "/t/asking", go: (page) => log(page).locator("[data-request]").first().waitFor() },
  form: { path: "/t/form", go: (page) => log(page).locator("[data-request]").getByRole("combobox").waitFor() },
  tray: { path: "/t/words", go: async (page) => {
    const tray = page.getByRole("region", { name: "Approvals" });
    await tray.getByRole("button").first().click();
    await tray.locator("[data-request]").first().waitFor();
  } },
  rtl: { path: "/t/rtl", go: (page) => log(page).getByText("مرحبا").last().waitFor() },
  running: { path: "/t/running", go: (page) => page.getByRole("button", { name: "Stop" }).waitFor() },
  threads: { path: "/t/words", go: async (page, small) => {
    if (small) await page.getByRole("button", { name: /^Threads/ }).click();
    await page.getByRole("navigation", { name: "Threads" }).getByRole("link").first().waitFor();
  } },
  help: { path: "/t/words", go: async (page) => {
    await page.getByRole("button", { name: "Delete thread" }).waitFor(); // the page hears no keys before it is there
    await page.keyboard.press("Alt+h");
    await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
  } },
  delete: { path: "/t/words", go: async (page) => {
    await page.getByRole("button", { name: "Delete thread" }).click();
    await page.getByRole("dialog", { name: "Delete thread" }).waitFor();
  } },
  unknown: { path: "/t/nothing", go: (page) => page.getByRole("heading", { name: "This thread is not here" }).waitFor(), fault: /404/ },
};

async function fill(s) {
  await s.say("words", "think, markdown");
  await s.say("tools", "list, diff, exec, fail, parallel");
  await s.say("shown", "plan, notice, image, subagent, emoji, unsafe, usage");
  await s.say("errors", "error");
  await s.say("errors", "die");
  await s.say("rtl", "echo مرحبا، هذا نص عربي مع `code` وكلمة English في الوسط");
  await s.say("asking", "two questions");
  await s.say("form", "ask me");
  await s.say("running", "silent 900", { wait: false });
}

for (const [size, viewport] of [["1280", wide], ["320", phone]]) {
  check(`every view at ${size}, light and dark`, async ({ server, visitor }) => {
    const s = await server();
    await fill(s);
    const v = await visitor(s, { viewport });
    const page = await v.open("/");
    const wrong = [];
    for (const [name, view] of Object.entries(views)) {
      await page.goto(s.url + view.path);
      await view.go(page, viewport === phone);
      if (view.fault) v.faults = v.faults.filter((f) => !view.fault.test(f));
      wrong.push(...(await broken(page)).map((w) => `${name}: ${w}`));
      wrong.push(...(await audit(page, viewport === phone ? ["color-contrast", "target-size", "scrollable-region-focusable", "region", "aria-hidden-focus"] : undefined)).map((w) => `${name}: ${w}`));
      await shot(page, `${name}-${size}-light`);
      await page.emulateMedia({ colorScheme: "dark" });
      wrong.push(...(await audit(page, ["color-contrast"])).map((w) => `${name}, dark: ${w}`));
      await shot(page, `${name}-${size}-dark`);
      await page.emulateMedia({ colorScheme: "light" });
    }
    assert.deepEqual(wrong, []);
  });
}

check("the server's own page for who is not signed in", async ({ server, visitor }) => {
  const s = await server();
  for (const [size, viewport] of [["1280", wide], ["320", phone]]) {
    for (const colours of ["light", "dark"]) {
      const v = await visitor(s, { viewport, dark: colours === "dark" });
      const page = await v.context.newPage();
      await page.goto(s.url + "/t/words");
      await page.getByRole("heading", { name: "You are not signed in" }).waitFor();
      await shot(page, `sign-in-${size}-${colours}`);
      assert.deepEqual([...(await broken(page)), ...(await audit(page))], []);
    }
  }
});

check("everything by the keyboard alone", async ({ server, visitor }) => {
  const s = await server();
  await s.say("words", "markdown");
  const v = await visitor(s);
  const page = await v.open("/");
  await page.getByRole("radio").first().waitFor();
  const tab = async (name, most = 40) => {
    for (let n = 0; n < most; n++) {
      const at = await page.evaluate(() => {
        const e = document.activeElement;
        const ring = getComputedStyle(e);
        return { name: e.getAttribute("aria-label") ?? e.labels?.[0]?.textContent ?? (e.textContent.trim() || e.querySelector("[aria-label]")?.getAttribute("aria-label") || e.querySelector("title")?.textContent || "").replace(/\s+/g, " "), visible: e === document.body || ring.outlineStyle !== "none" || ring.boxShadow !== "none" || e.matches(".composer textarea, .search input") };
      });
      assert.ok(at.visible, `the focus is not seen on ${at.name}`);
      if (name.test(at.name)) return;
      await page.keyboard.press("Tab");
    }
    throw new Error(`${name} is not reached by Tab`);
  };
  await tab(/^Message$/);
  await page.keyboard.type("write out.txt hello");
  await page.keyboard.press("Enter");
  await log(page).locator("[data-request]").waitFor();
  await page.keyboard.press("Alt+a");
  await page.keyboard.press("1");
  await log(page).getByText("I have written").waitFor();
  await quiet(page);
  await page.keyboard.press("Alt+ArrowDown");
  await log(page).getByRole("heading", { name: "A heading" }).waitFor();
  await page.keyboard.press("Alt+m");
  await tab(/^Message$/, 1);
  await page.keyboard.type("echo by keys");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("echo twice");
  await page.keyboard.press("Enter");
  await log(page).getByText("twice", { exact: true }).waitFor();
  await quiet(page);
  await page.keyboard.press("Alt+c");
  await tab(/Copy answer/);
  await page.keyboard.press("Enter");
  await until("the clipboard", async () => /A heading/.test(await page.evaluate(() => navigator.clipboard.readText())));
  await page.keyboard.press("Alt+h");
  await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "hidden" });
});

check("the colours that were chosen stay", async ({ server, visitor }) => {
  const s = await server();
  const v = await visitor(s);
  const page = await v.open("/");
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  for (const n of [1, 2]) await page.getByRole("button", { name: /^Colours/ }).click();
  await until("dark", async () => (await background()) !== light);
  const dark = await background();
  await page.reload();
  await page.getByRole("button", { name: /^Colours: dark/ }).waitFor();
  assert.equal(await background(), dark);
});
