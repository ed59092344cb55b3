// @vitest-environment jsdom
import { ResumableHttpAgent } from "@agentstream/client";
import { CopilotKitCoreReact } from "@copilotkit/react-core/v2/context";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { App } from "../pages/copilotkit/app.js";
import { patient, say, Server } from "./log.js";
import { Tab } from "./page.js";

let server: Server;
beforeAll(async () => { server = await Server.start(); });
afterAll(async () => { await server.stop(); });

const tabs: Tab[] = [];
afterEach(() => { for (const t of tabs.splice(0)) t.close(); });

const headers = () => ({ Authorization: `Bearer ${server.token}` });
const wait = (what: () => unknown) => vi.waitFor(what, patient);
const runs = async (thread: string) => (await server.json(`/v1/threads/${thread}/runs`)).runs as { state: string }[];
const states = (thread: string, ...want: string[]) => wait(async () => expect((await runs(thread)).map((r) => r.state).sort()).toEqual(want.sort()));

class Viewer extends Tab {
  constructor(readonly core: CopilotKitCoreReact, readonly threadId: string) {
    super(<App core={core} threadId={threadId} />);
    tabs.push(this);
  }
  goTo(threadId: string) { this.render(<App core={this.core} threadId={threadId} />); }
  /** Shows what the server has, message for message. */
  async equal(thread = this.threadId) {
    await wait(async () => {
      const stored = await server.json(`/v1/threads/${thread}/messages`);
      expect(JSON.parse(JSON.stringify(this.core.agents.demo!.messages))).toEqual(stored.messages);
    });
  }
}

const kinds = {
  "the runtime's routes": () => new CopilotKitCoreReact({ runtimeUrl: `${server.url}/copilotkit`, headers: headers() } as never),
  "an agent of one's own": () => new CopilotKitCoreReact({
    agents__unsafe_dev_only: { demo: new ResumableHttpAgent({ url: `${server.url}/agui/demo`, headers: headers(), retryDelay: 5 }) },
  } as never),
};

describe.each(Object.entries(kinds))("CopilotKit's hooks on %s", (name, make) => {
  const own = name.startsWith("an agent");
  const id = (what: string) => `${own ? "own" : "runtime"}-${what}`;
  const open = (thread: string) => new Viewer(make(), thread);

  test("join at rest and in mid-answer, go on, stop", async () => {
    const t = id("join");
    await say(server, t, "r1", "think, echo at rest");
    const a = open(t);
    await a.shows("at rest");
    await a.equal();
    await a.send("list, slow 2, list");
    await a.shows("I take my time");
    const b = open(t);
    await b.shows("I take my time");
    await states(t, "finished", "finished");
    await a.equal();
    await b.equal();
    await b.send("slow 600");
    await wait(() => expect(b.texts(".assistant").at(-1)).toContain("I take my time"));
    await b.click("Stop");
    await states(t, "finished", "finished", "cancelled");
    await b.send("echo still here");
    await wait(() => expect(b.texts(".assistant").at(-1)).toBe("still here"));
    if (own) await a.equal(); // it watches
  });

  test("a question is a card, also for who joins, and is answered there", async () => {
    const t = id("ask");
    const a = open(t);
    await a.send("write one.txt hello");
    await a.shows("Allow");
    const b = open(t);
    await b.shows("Allow");
    await b.click("Allow");
    await b.shows("I have written");
    await b.hides("Allow");
    await b.equal();
    if (!own) return;
    await a.hides("Allow");
    await a.equal();
    await a.send("write two.txt hello");
    await a.shows("Allow");
    await a.click("Deny");
    await a.shows("I may not");
    await a.equal();
    await b.equal();
  });

  test("a card goes on when it was answered by REST", async () => {
    const t = id("rest");
    const a = open(t);
    await a.send("write three.txt hello");
    await a.shows("Allow");
    const [request] = (await server.json(`/v1/requests?state=pending&threadId=${t}`)).requests;
    await server.json(`/v1/requests/${request.id}/resolve`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ approved: true }) });
    if (!own) await a.click("Allow"); // nobody tells it; its late answer brings it up to date
    await a.shows("I have written");
    await a.hides("Allow");
    await a.equal();
  });
});

test("with an agent of one's own: typing in place of answering, a dead agent, another thread and back", async () => {
  const a = new Viewer(kinds["an agent of one's own"](), "more");
  await a.send("write four.txt hello");
  await a.shows("Allow");
  await a.send("echo never mind");
  await wait(() => expect(a.texts(".assistant").at(-1)).toBe("never mind"));
  await a.hides("Allow");
  await a.equal();
  await a.send("die");
  await wait(async () => expect((await runs("more")).map((r) => r.state)).toContain("failed"));
  await a.equal();
  await a.send("write five.txt hello");
  await a.shows("Allow");
  await say(server, "elsewhere", "e1", "echo another place");
  a.goTo("elsewhere");
  await a.shows("another place");
  await a.hides("never mind");
  await a.equal("elsewhere");
  a.goTo("more");
  await a.shows("Allow");
  await a.equal();
  await a.click("Allow");
  await a.shows("I have written `five.txt`");
});
