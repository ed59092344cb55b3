import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Server } from "./server.js";

// CopilotKit's core talks to its runtime only where there is a window.
(globalThis as Record<string, unknown>).window ??= globalThis;
const { CopilotKitCore } = await import("@copilotkit/core");

let server: Server;
beforeAll(async () => { server = await Server.start(); });
afterAll(async () => { await server.stop(); });

const plain = (v: unknown) => JSON.parse(JSON.stringify(v)) as unknown;

for (const transport of ["rest", "single"] as const) {
  test(`CopilotKit's core needs no runtime of its own: ${transport}`, async () => {
    const connect = async (threadId: string) => {
      const core = new CopilotKitCore({
        runtimeUrl: `${server.url}/copilotkit`, runtimeTransport: transport, headers: { Authorization: `Bearer ${server.token}` },
      });
      await vi.waitFor(() => expect(core.agents.demo).toBeDefined(), { timeout: 30_000 });
      const agent = core.agents.demo!;
      agent.threadId = threadId;
      return { core, agent };
    };
    const thread = `copilot-${transport}`;
    const stored = async () => (await server.json(`/v1/threads/${thread}/messages`)).messages;
    const a = await connect(thread);
    a.agent.addMessage({ id: "u1", role: "user", content: "think, list, parallel" });
    await a.core.runAgent({ agent: a.agent });
    expect(plain(a.agent.messages)).toEqual(await stored());

    const b = await connect(thread);
    await b.core.connectAgent({ agent: b.agent });
    expect(plain(b.agent.messages)).toEqual(await stored());

    a.agent.addMessage({ id: "u2", role: "user", content: "slow 600" });
    const running = a.core.runAgent({ agent: a.agent });
    await vi.waitFor(async () => expect((await server.json(`/v1/threads/${thread}`)).state).toBe("running"), { timeout: 30_000 });
    a.core.stopAgent({ agent: a.agent });
    await running;
    expect((await server.json(`/v1/threads/${thread}`)).lastRun.state).toBe("cancelled");
  });
}
