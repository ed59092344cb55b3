import type { Connection } from "../model";
import { Signal } from "./signal";

/** What the quiet line says. Every request of the page takes part in it. */
export const connection = new Signal<Connection>("live");

/** The server has turned the page away: its token is missing or another one. */
export const signedOut = new Signal(false);

let catching = 0;

export function offline(): void {
  connection.set("offline");
}

export function reached(): void {
  connection.set(catching > 0 ? "catching-up" : "live");
}

/** Between the first and the last of these the page shows what is not the newest. */
export function catchingUp(by: 1 | -1): void {
  catching = Math.max(0, catching + by);
  if (connection.value !== "offline") reached();
}

/** fetch, watched: an answer of the server means that it is there, whatever it says. */
export async function watchedFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(input, init);
  } catch (e) {
    if (!(init?.signal?.aborted)) offline();
    throw e;
  }
  if (response.status === 502 || response.status === 504) offline();
  else reached();
  if (response.status === 401) signedOut.set(true);
  return response;
}

if (typeof window !== "undefined") {
  window.addEventListener("offline", offline);
}
