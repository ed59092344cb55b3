import * as api from "../api";
import { onWake } from "./wake";

/**
 * Says that some thread, run or request changed: it waits for another first page of
 * threads. Browsers allow six connections to a server over all tabs, so one tab waits
 * and tells the others, where locks exist (they need a secure context).
 */
export function follow(changed: () => void): void {
  const channel = typeof BroadcastChannel === "function" ? new BroadcastChannel("agentstream") : undefined;
  channel?.addEventListener("message", changed);
  const lead = () =>
    wait(() => {
      changed();
      channel?.postMessage("changed");
    });
  if (navigator.locks) void navigator.locks.request("agentstream-feed", lead);
  else void lead();
}

async function wait(changed: () => void): Promise<never> {
  let stop = new AbortController();
  let nap: (() => void) | undefined;
  onWake(() => {
    stop.abort();
    stop = new AbortController();
    nap?.();
  });
  let since = "";
  for (let pause = 500; ; ) {
    try {
      const page = await api.threads({ limit: 50, ...(since ? { wait: "25s", since } : {}) }, stop.signal);
      if (page.cursor !== since) changed();
      since = page.cursor ?? "";
      pause = 500;
      if (since) continue;
    } catch {
      // The connection says so. What was missed is asked for when it is back.
      since = "";
    }
    await new Promise<void>((done) => {
      nap = done;
      setTimeout(done, pause);
    });
    pause = Math.min(pause * 2, 8000);
  }
}
