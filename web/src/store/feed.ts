import { offline, reached } from "./connection";
import { onWake } from "./wake";

/**
 * Follows GET /v1/requests/events and says that something changed. Browsers allow six
 * connections to a server over all tabs, so one tab holds the stream and tells the
 * others, where locks exist (they need a secure context).
 */
export function follow(changed: () => void): void {
  const channel = typeof BroadcastChannel === "function" ? new BroadcastChannel("agentstream") : undefined;
  channel?.addEventListener("message", changed);
  const lead = () => {
    const source = new EventSource("/v1/requests/events");
    let over = false;
    const again = () => {
      if (over) return;
      over = true;
      source.close();
      sleep();
      lead();
    };
    const sleep = onWake(again);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const tell = () => {
      // The stream begins with what there is: many at once are one change.
      timer ??= setTimeout(() => {
        timer = undefined;
        changed();
        channel?.postMessage("changed");
      }, 30);
    };
    source.onopen = () => {
      reached();
      tell();
    };
    source.onmessage = tell;
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) {
        setTimeout(again, 5000);
      } else {
        offline();
      }
    };
  };
  if (navigator.locks) void navigator.locks.request("agentstream-feed", () => new Promise<void>(lead));
  else lead();
}
