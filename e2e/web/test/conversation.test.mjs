import assert from "node:assert/strict";
import { check } from "../check.mjs";
import { begin, log, quiet, say, shot, threadOf } from "../page.mjs";

check("an answer streams, and everything the demo shows is shown", async ({ server, visitor }) => {
  const s = await server({ pace: 20 });
  const v = await visitor(s);
  const page = await begin(v, "markdown");
  await shot(page, "streaming");
  await quiet(page);
  await shot(page, "markdown");
  for (const words of ["think, list, diff", "exec, fail, parallel", "plan, notice, image, subagent", "emoji, unsafe, usage"]) {
    await say(page, words);
    await log(page).getByText(words, { exact: true }).waitFor();
    await quiet(page);
    await shot(page, words.replace(/\W+/g, "-"));
  }
});
