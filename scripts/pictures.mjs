// The pictures of scripts/pictures.sh: one conversation, seen by four visitors.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { begin, close, log, message, phone, quiet, say, shot, threadOf, Visitor } from "../e2e/web/page.mjs";
import { Server } from "../e2e/web/server.mjs";

const server = await Server.start({ pace: 20 });
try {
  const desk = await Visitor.come(server);
  for (const [thread, title, words] of [["t-release", "Notes on the release", "think"], ["t-slow", "Which tests are slow?", "exec"]]) {
    await server.say(thread, words);
    await server.api("PATCH", `/v1/threads/${thread}`, { title });
  }
  for (const name of ["README.md", "main.go", "main_test.go"]) writeFileSync(join(server.cwd, name), `${name}\n`);
  const page = await begin(desk, "plan, list and diff");
  await server.api("PATCH", `/v1/threads/${threadOf(page)}`, { title: "Tidy up the examples" });
  await quiet(page);
  await message(page).blur();
  await shot(page, "conversation");
  const path = `/t/${encodeURIComponent(threadOf(page))}`;

  const dark = await Visitor.come(server, { dark: true });
  const night = await dark.open(path);
  await log(night).waitFor();
  await quiet(night);
  await shot(night, "dark");
  await dark.go();

  await say(page, "write notes.md");
  await page.getByRole("button", { name: /^Allow/ }).first().waitFor();
  await shot(page, "approval");

  const pocket = await Visitor.come(server, { viewport: phone });
  const small = await pocket.open(path);
  await small.getByRole("button", { name: /^Allow/ }).first().waitFor();
  await shot(small, "phone");
  await pocket.go();
  await desk.go();
} finally {
  await close();
  await server.stop();
}
