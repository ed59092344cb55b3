import { mkdirSync, readFileSync } from "node:fs";
import { createServer, type Server as Files } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { chromium, type Browser, type Page } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Server } from "./log.js";

// The pages come from another origin than the server's, as an application's do.
const dist = new URL("../dist/", import.meta.url).pathname;
const kinds: Record<string, string> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };
const files: Files = createServer((request, response) => {
  const name = path.join(dist, path.normalize(new URL(request.url!, "http://x").pathname));
  response.setHeader("Content-Type", kinds[path.extname(name)] ?? "application/octet-stream");
  response.end(readFileSync(name));
});

let server: Server;
let browser: Browser;
let origin = "";

beforeAll(async () => {
  await build({ configFile: new URL("../vite.config.ts", import.meta.url).pathname });
  await new Promise<void>((yes) => files.listen(0, "127.0.0.1", yes));
  origin = `http://127.0.0.1:${(files.address() as AddressInfo).port}`;
  server = await Server.start("--allow-origin", origin);
  browser = await chromium.launch({ executablePath: process.env.AGENTSTREAM_CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
});
afterAll(async () => {
  await browser?.close();
  files.close();
  await server?.stop();
});

async function look(page: Page, name: string) {
  const folder = process.env.AGENTSTREAM_SCREENS;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: path.join(folder, `${name}.png`) });
}

test.each(["assistant-ui", "copilotkit"])("%s in a browser: an answer outlives a refresh, a second tab answers a question", async (name) => {
  const context = await browser.newContext({ viewport: { width: 800, height: 900 } });
  context.setDefaultTimeout(60_000);
  const faults: string[] = [];
  const at = `${origin}/${name}/index.html#${new URLSearchParams({ base: server.url, token: server.token, thread: `seen-${name}` })}`;
  const open = async () => {
    const page = await context.newPage();
    page.on("pageerror", (e) => faults.push(String(e)));
    page.on("console", (m) => {
      // A new thread is asked for before there is one.
      if (m.type() === "error" && !/status of 404/.test(m.text())) faults.push(m.text());
    });
    await page.goto(at);
    return page;
  };
  const ask = async (page: Page, text: string) => {
    await page.getByRole("button", { name: "Send" }).waitFor();
    await page.getByPlaceholder("Message").fill(text);
    await page.getByRole("button", { name: "Send" }).click();
  };

  const first = await open();
  await ask(first, "think, list, slow 5, echo that was all");
  await first.getByText("I take my time").waitFor();
  await first.reload();
  await first.getByText("I take my time").waitFor();
  await look(first, `${name}-refreshed`);
  await first.getByText("that was all", { exact: true }).waitFor();
  const whole = await first.locator("main").innerText();
  for (const once of ["think, list, slow 5", "I have thought about it", "list_files", "until all of it is said"]) expect(whole.split(once), once).toHaveLength(2);

  const second = await open();
  await second.getByText("that was all", { exact: true }).waitFor();
  await ask(first, "write out.txt hello");
  await first.getByRole("button", { name: "Allow" }).waitFor();
  await second.getByRole("button", { name: "Allow" }).waitFor();
  await look(first, `${name}-asks`);
  await second.getByRole("button", { name: "Allow" }).click();
  for (const page of [first, second]) {
    await page.getByText("I have written").waitFor();
    await page.getByRole("button", { name: "Allow" }).waitFor({ state: "detached" });
  }
  await look(first, `${name}-answered`);
  expect(faults).toEqual([]);
  await context.close();
});
