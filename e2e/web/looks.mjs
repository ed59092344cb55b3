// What every view must stand: nothing scrolls sideways, nothing is cut off, and
// axe finds nothing.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** broken names what is laid out wrong. */
export const broken = (page) =>
  page.evaluate(() => {
    const found = [];
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth > width) found.push(`the page is ${document.documentElement.scrollWidth} wide in a window of ${width}`);
    const scrolls = (e) => {
      for (let p = e.parentElement; p; p = p.parentElement) {
        const s = getComputedStyle(p);
        if (["auto", "scroll", "hidden", "clip"].includes(s.overflowX)) return true;
      }
      return false;
    };
    const name = (e) => `${e.tagName.toLowerCase()}.${[...e.classList].join(".")} “${(e.getAttribute("aria-label") ?? e.textContent).trim().slice(0, 30)}”`;
    for (const e of document.body.querySelectorAll("*")) {
      if (e.closest(".visually-hidden, [inert], svg") || !e.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true })) continue;
      const r = e.getBoundingClientRect();
      if (r.width === 0 || r.height === 0) continue;
      if ((r.left < -1 || r.right > width + 1) && !scrolls(e) && getComputedStyle(e).position !== "fixed") found.push(`${name(e)} reaches from ${Math.round(r.left)} to ${Math.round(r.right)} of ${width}`);
      // WCAG 2.5.8; links within text are exempt.
      if (e.matches("button, select, summary, input:not([type=hidden]):not([type=file]):not([type=radio]):not([type=checkbox])") && (r.width < 23.5 || r.height < 23.5)) found.push(`${name(e)} is ${Math.round(r.width)} × ${Math.round(r.height)}`);
    }
    return [...new Set(found)];
  });

/** audit gives what axe finds, by all of its rules or by some. Its text is evaluated, which the page's policy does not concern. */
export async function audit(page, rules) {
  await page.evaluate(axe);
  const found = await page.evaluate((only) => window.axe.run(document, { runOnly: only }), rules ?? ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]);
  return found.violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${v.help}: ${n.target.join(" ")} ${n.failureSummary.replace(/\s+/g, " ").slice(0, 200)}`));
}
