import { Server } from "../../../clients/typescript/test/server.js";

export { Server };

/** An event of a thread's log with its cursor. */
export interface Logged {
  id: string;
  event: { type: string } & Record<string, unknown>;
}

/** All that a thread's log holds, as it was first said. */
export async function log(server: Server, thread: string): Promise<Logged[]> {
  const all: Logged[] = [];
  for (let after = ""; ; ) {
    const page = await server.json<{ events: Logged[]; cursor: string }>(`/v1/threads/${thread}/events?wait=0s${after && `&after=${after}`}`);
    if (page.events.length === 0) return all;
    all.push(...page.events);
    after = page.cursor;
  }
}

/** Runs a prompt to the end of its run, as somebody who does not look. */
export async function say(server: Server, thread: string, runId: string, input: string): Promise<void> {
  const response = await fetch(`${server.url}/v1/threads/${thread}/runs`, {
    method: "POST",
    headers: { Authorization: `Bearer ${server.token}`, "Content-Type": "application/json", Accept: "text/event-stream" },
    body: JSON.stringify({ agent: "demo", input, runId }),
  });
  if (!response.ok) throw new Error(await response.text());
  await response.text();
}

export const plain = <T>(v: T) => JSON.parse(JSON.stringify(v)) as T;
export const patient = { timeout: 30_000 };
