import * as api from "../api";
import type { PendingRequest } from "../model";
import { Signal } from "./signal";

/** What waits for an answer, over all threads, oldest first. */
export const requests = new Signal<readonly PendingRequest[]>([]);

let asking: Promise<void> | undefined;
let again = false;

/** Reads the list anew; many calls at once make two requests. */
export function refreshRequests(): Promise<void> {
  if (asking) {
    again = true;
    return asking;
  }
  asking = (async () => {
    do {
      again = false;
      try {
        const list = await api.pendingRequests();
        list.sort((a, b) => a.createdAt.localeCompare(b.createdAt) || a.id.localeCompare(b.id));
        if (JSON.stringify(list) !== JSON.stringify(requests.value)) requests.set(list);
      } catch {
        // The connection says so; the feed asks again when it is back.
      }
    } while (again);
  })().finally(() => {
    asking = undefined;
  });
  return asking;
}

/** Answers. What somebody else answered meanwhile is no failure: it goes away as well. */
export async function answer(request: PendingRequest, with_: api.Answer): Promise<void> {
  try {
    await api.resolve(request.id, with_);
  } catch (e) {
    if (!(e instanceof api.ApiError) || (e.code !== "already_resolved" && e.code !== "request_unknown")) throw e;
    await refreshRequests();
    throw new api.ApiError(e.status, e.code, "This was answered elsewhere.");
  }
  requests.update((list) => list.filter((r) => r.id !== request.id));
  void refreshRequests();
}
