// Pages of a browser that keep what went wrong in them.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { patience, root } from "./server.mjs";

export const screens = process.env.AGENTSTREAM_SCREENS ?? join(root, "bin", "screens");

export const wide = { width: 1280, height: 800 };
export const phone = { width: 320, height: 640 };

let shared;

/** browser is one for all tests of a file. */
export async function browser() {
  shared ??= await chromium.launch({
    executablePath: process.env.AGENTSTREAM_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--force-color-profile=srgb", "--disable-background-networking", "--disable-component-update"],
  });
  return shared;
}

export async function close() {
  await shared?.close();
  shared = undefined;
}

/** Visitor is a browser of one's own: cookies, storage, tabs. */
export class Visitor {
  /** look: viewport, dark, reduced motion, bypassCSP (for axe alone). */
  static async come(server, look = {}) {
    const v = new Visitor();
    v.server = server;
    v.faults = [];
    v.context = await (await browser()).newContext({
      viewport: look.viewport ?? wide,
      colorScheme: look.dark ? "dark" : "light",
      hasTouch: look.viewport === phone,
      isMobile: look.viewport === phone,
      reducedMotion: look.motion ? "no-preference" : "reduce",
      bypassCSP: look.bypassCSP ?? false,
      locale: "en-GB",
      timezoneId: "UTC",
    });
    v.context.setDefaultTimeout(patience);
    await v.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    return v;
  }

  /** open opens a tab; the first of a visitor signs in. */
  async open(path = "/") {
    const page = await this.context.newPage();
    page.on("console", (m) => {
      if (["error", "warning", "assert"].includes(m.type())) this.fault(`console ${m.type()}: ${m.text()} ${m.location().url}`);
    });
    page.on("pageerror", (e) => this.fault(`exception: ${e.stack ?? e}`));
    page.on("request", (r) => {
      const url = new URL(r.url());
      if (!["data:", "blob:"].includes(url.protocol) && url.origin !== this.server.url) this.fault(`a request to ${url.origin}`);
    });
    const address = new URL(path, this.server.url);
    address.searchParams.set("token", this.server.token);
    await page.goto(address.href);
    return page;
  }

  fault(text) {
    if (this.away && /ERR_(INTERNET_DISCONNECTED|CONNECTION_REFUSED|CONNECTION_RESET|INCOMPLETE_CHUNKED_ENCODING|EMPTY_RESPONSE|FAILED|NETWORK_CHANGED)|status of 503|Failed to fetch|NetworkError/.test(text)) return;
    this.faults.push(text);
  }

  /** evidence is what is seen when a test fails. */
  async evidence(name) {
    for (const [n, page] of this.context.pages().entries()) await shot(page, `failed-${name.replace(/\W+/g, "-").slice(0, 60)}-${n}`);
  }

  /** go ends the visit; what went wrong in it fails the test. */
  async go() {
    await this.context.close();
    if (this.faults.length > 0) throw new Error(`the page met faults:\n${this.faults.join("\n")}`);
  }
}

export async function shot(page, name) {
  mkdirSync(screens, { recursive: true });
  await page.screenshot({ path: join(screens, `${name}.png`), animations: "disabled", caret: "hide" });
}

export const log = (page) => page.getByRole("log", { name: "Conversation" });
export const message = (page) => page.getByRole("textbox", { name: "Message" }).or(page.getByRole("combobox", { name: "Message" }));

/** say types a message and sends it by Enter. */
export async function say(page, text) {
  await message(page).fill(text);
  await page.keyboard.press("Escape"); // no list of commands over the field
  await message(page).press("Enter");
}

/** quiet waits until nothing runs. */
export async function quiet(page) {
  await page.getByRole("button", { name: "Send", exact: true }).waitFor();
  await page.getByRole("button", { name: /^Stop/ }).waitFor({ state: "hidden" });
}

/** begin opens a new thread by its first message. */
export async function begin(visitor, text, path = "/") {
  const page = await visitor.open(path);
  await page.getByRole("radio", { name: /demo/ }).check({ force: true });
  await say(page, text);
  await page.waitForURL(/\/t\//);
  return page;
}

export const threadOf = (page) => decodeURIComponent(new URL(page.url()).pathname.slice(3));

/** story is who says what and which tools are called, in order: what a reload must not change. */
export const story = (page) =>
  page.evaluate(() => {
    const lines = [];
    for (const turn of document.querySelectorAll('[role="log"] [data-turn]')) {
      const who = turn.getAttribute("aria-label");
      const texts = [...turn.querySelectorAll("p, li, h1, h2, h3, h4, td, .card-title, img")].filter((e) => !e.closest(".fold-body, .turn-actions, [role=status]"));
      for (const e of texts) lines.push(who + ": " + (e.tagName === "IMG" ? "picture" : e.textContent.trim().replace(/\s+/g, " ")));
      if (texts.length === 0) lines.push(who + ": " + turn.textContent.trim());
    }
    return lines;
  });

/** until asks again and again until the answer counts as true. */
export async function until(what, ask) {
  for (const end = Date.now() + patience; Date.now() < end; await new Promise((next) => setTimeout(next, 50))) {
    const answer = await ask();
    if (answer) return answer;
  }
  throw new Error(`waited in vain for ${what}`);
}
