// A test that may fail once: the machine is shared. Both failures are printed.
import { after, test } from "node:test";
import { close, Visitor } from "./page.mjs";
import { Server } from "./server.mjs";

after(close);

/** check gives body a way to make servers and visitors, which end with it. */
export function check(name, body, { tries = 2 } = {}) {
  test(name, { timeout: 600_000 }, async (t) => {
    for (let n = 1; ; n++) {
      const ends = [];
      const visitors = [];
      const world = {
        server: async (o) => {
          const s = await Server.start(o);
          ends.push(() => s.stop());
          return s;
        },
        visitor: async (s, look) => {
          const v = await Visitor.come(s, look);
          ends.unshift(() => v.go());
          visitors.push(v);
          return v;
        },
        log: (line) => t.diagnostic(line),
      };
      let failed;
      try {
        await body(world);
      } catch (e) {
        failed = e;
        for (const v of visitors) await v.evidence(name).catch(() => undefined);
      }
      for (const end of ends) {
        try {
          await end();
        } catch (e) {
          failed ??= e;
        }
      }
      if (!failed) return;
      if (n >= tries) throw failed;
      t.diagnostic(`failed, is tried again: ${failed.stack ?? failed}`);
    }
  });
}
