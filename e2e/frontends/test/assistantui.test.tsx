// @vitest-environment jsdom
import { ResumableHttpAgent } from "@agentstream/client";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { App } from "../pages/assistant-ui/app.js";
import { patient, say, Server } from "./log.js";
import { Tab } from "./page.js";

let server: Server;
beforeAll(async () => { server = await Server.start(); });
afterAll(async () => { await server.stop(); });

const tabs: Tab[] = [];
afterEach(() => { for (const t of tabs.splice(0)) t.close(); });

function open(threadId: string): Tab {
  const agent = new ResumableHttpAgent({ url: `${server.url}/agui/demo`, headers: { Authorization: `Bearer ${server.token}` }, threadId, retryDelay: 5 });
  const tab = new Tab(<App agent={agent} />);
  tabs.push(tab);
  return tab;
}

const runs = async (thread: string) => (await server.json(`/v1/threads/${thread}/runs`)).runs as { state: string }[];
const ended = (thread: string, count: number) => vi.waitFor(async () => {
  const all = await runs(thread);
  expect(all.filter((r) => r.state !== "running")).toHaveLength(count);
}, patient);

test("joins a thread at rest, and goes on", async () => {
  await say(server, "rest", "r1", "think, echo at peace");
  const a = open("rest");
  await a.shows("at peace");
  await a.send("echo and on it goes");
  await ended("rest", 2);
  await vi.waitFor(() => expect(a.texts(".answer").at(-1)).toBe("and on it goes"), patient);
});

test("joins in mid-answer, and a second viewer sees what the first one starts", async () => {
  const a = open("live");
  await a.send("list, slow 2, list");
  await a.shows("list_files");
  const b = open("live");
  await b.shows("list_files");
  await ended("live", 1);
  await vi.waitFor(() => expect(b.texts(".answer")).toEqual(a.texts(".answer")), patient);
  await a.send("echo hello you");
  await ended("live", 2);
  await vi.waitFor(() => expect(b.texts(".question").at(-1)).toBe("echo hello you"), patient);
  await vi.waitFor(() => expect(b.texts(".answer").at(-1)).toContain("hello you"), patient);
  await vi.waitFor(() => expect(a.texts(".answer")).toEqual(b.texts(".answer")), patient);
});

test("a question is asked by native buttons, also after a reload, and answered once for all", async () => {
  const a = open("ask");
  await a.send("write one.txt hello");
  await a.shows("Allow");
  const b = open("ask");
  await b.shows("Allow");
  await b.click("Allow");
  await b.shows("I have written");
  await a.shows("I have written"); // it was told that the question was answered elsewhere
  await a.hides("Allow");
  await ended("ask", 2);
  await a.send("write two.txt hello");
  await a.shows("Allow");
  await a.click("Deny");
  await a.shows("Permission denied.");
  await b.shows("Permission denied.");
});

test("stopping ends the run, and the next message is a new one", async () => {
  const a = open("stop");
  await a.send("slow 600");
  await a.shows("I take my time");
  await a.click("Stop");
  await vi.waitFor(async () => expect((await runs("stop")).map((r) => r.state)).toEqual(["cancelled"]), patient);
  await a.send("echo still here");
  await a.shows("still here");
});
