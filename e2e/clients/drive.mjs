// Drives the published AG-UI clients for the Go tests (internal/aguitest).
//
// Commands are JSON lines on stdin, answers JSON lines on stdout, in any order,
// matched by id. Agents live between commands, under the key that a command
// gives as "agent"; a command without one gets an agent of its own.
//
//   run     runs the agent against a URL, or against "frames", the bytes of a
//           response; answers when the run is over
//   wait    answers when the agent's present or next run has seen "count"
//           events of type "event" (any, if none is given)
//   abort, detach   as the application would
//   drop    forgets the agent
//
// Everything that the client prints belongs to the report: a warning is a defect.
import { AsyncLocalStorage } from "node:async_hooks";
import { createInterface } from "node:readline";
import { format } from "node:util";
import { HttpAgent as HttpAgentV0 } from "agui-client-v0";
import { HttpAgent as HttpAgentV1 } from "agui-client-v1";

const answer = (object) => process.stdout.write(JSON.stringify(object) + "\n");

const reports = new AsyncLocalStorage();
const running = new Set();

for (const level of ["log", "info", "debug", "warn", "error"]) {
  console[level] = (...args) => {
    const line = `${level}: ${format(...args)}`.slice(0, 2000);
    const report = reports.getStore();
    if (report) report.warnings.push(line);
    else process.stderr.write(line + "\n");
  };
}
process.on("unhandledRejection", (error) => {
  const report = reports.getStore();
  for (const one of report ? [report] : running) one.warnings.push(`unhandled: ${error?.message ?? error}`);
});

// A client that can also read: GET instead of POST, and connectAgent() runs.
const reading = (Base) =>
  class extends Base {
    method = "POST";
    requestInit(input) {
      const init = super.requestInit(input);
      if (this.method !== "GET") return init;
      const { "Content-Type": _, ...headers } = init.headers;
      return { method: "GET", headers, signal: init.signal };
    }
    connect(input) {
      return this.run(input);
    }
  };

const versions = { "0.0.59": reading(HttpAgentV0), "1.0.0": reading(HttpAgentV1) };

const agents = new Map();
const waiters = new Map(); // by agent, which need not exist yet

function waitersOf(key) {
  if (!waiters.has(key)) waiters.set(key, new Set());
  return waiters.get(key);
}

function agentOf(command) {
  if (command.agent !== undefined && agents.has(command.agent)) return agents.get(command.agent);
  const Agent = versions[command.version];
  if (!Agent) throw new Error(`no client of version ${command.version}`);
  const agent = new Agent({
    url: command.url ?? "http://replay.invalid/",
    threadId: command.threadId ?? "thread",
    initialMessages: command.messages ?? [],
    ...(command.state != null && { initialState: command.state }),
  });
  agent.seen = [];
  agent.waiting = command.agent === undefined ? new Set() : waitersOf(command.agent);
  if (command.agent !== undefined) agents.set(command.agent, agent);
  return agent;
}

// respond answers a request with given bytes, in pieces of the given size.
function respond(frames, piece) {
  const bytes = new TextEncoder().encode(frames);
  let at = 0;
  return async () =>
    new Response(
      new ReadableStream({
        pull(controller) {
          if (at >= bytes.length) return controller.close();
          const end = piece > 0 ? at + piece : bytes.length;
          controller.enqueue(bytes.slice(at, end));
          at = end;
        },
      }),
      { status: 200, headers: { "content-type": "text/event-stream" } },
    );
}

function notice(agent, type) {
  agent.seen.push(type);
  for (const waiter of agent.waiting) waiter();
}

const direct = (url, init) => fetch(url, init);

async function run(command) {
  const agent = agentOf(command);
  const report = { events: [], warnings: [] };
  agent.seen = report.events;
  if (command.url) agent.url = command.url;
  if (command.threadId) agent.threadId = command.threadId;
  agent.headers = command.headers ?? {};
  agent.method = command.method || "POST";
  agent.fetch = command.frames === undefined ? direct : respond(command.frames, command.piece ?? 0);
  if (command.add?.length) agent.messages = [...agent.messages, ...structuredClone(command.add)];
  const { runId, tools, context, forwardedProps, resume } = command;
  const parameters = { runId: runId || "run", tools, context, forwardedProps, resume };
  const subscriber = {
    onEvent({ event }) {
      notice(agent, event.type);
      if (command.abortAfter && report.events.length === command.abortAfter) agent.abortRun();
    },
    onRunStartedEvent({ event }) {
      report.runId = event.runId;
    },
    onRunFinishedEvent(params) {
      report.outcome = params.outcome;
      report.result = params.result;
      report.pendingToolCallIds = params.pendingToolCallIds;
    },
    onRunErrorEvent({ event }) {
      report.runError = { message: event.message, code: event.code };
    },
  };
  running.add(report);
  const before = process.cpuUsage();
  await reports.run(report, async () => {
    try {
      await (command.connect ? agent.connectAgent(parameters, subscriber) : agent.runAgent(parameters, subscriber));
    } catch (error) {
      report.error = String(error?.message ?? error);
      report.errorStatus = error?.status;
    }
  });
  running.delete(report);
  const { user, system } = process.cpuUsage(before);
  report.cpuMillis = (user + system) / 1000;
  for (const waiter of agent.waiting) waiter(true);
  report.messages = agent.messages;
  report.state = agent.state;
  report.pendingInterrupts = agent.pendingInterrupts ?? [];
  return report;
}

function wait(command) {
  const waiting = waitersOf(command.agent);
  const seen = () => agents.get(command.agent)?.seen ?? [];
  const enough = () => seen().filter((t) => !command.event || t === command.event).length >= (command.count ?? 1);
  return new Promise((resolve, reject) => {
    const waiter = (over) => {
      if (enough()) resolve({ events: seen() });
      else if (over) reject(new Error(`the run is over, it saw ${seen().length} events`));
      else return;
      waiting.delete(waiter);
    };
    waiting.add(waiter);
    waiter();
  });
}

const commands = {
  run,
  wait,
  async abort(command) {
    agentOf(command).abortRun();
    return {};
  },
  async detach(command) {
    await agentOf(command).detachActiveRun();
    return {};
  },
  async drop(command) {
    agents.delete(command.agent);
    waiters.delete(command.agent);
    return {};
  },
};

const lines = createInterface({ input: process.stdin, crlfDelay: Infinity });
lines.on("line", async (line) => {
  const command = JSON.parse(line);
  try {
    answer({ id: command.id, report: await commands[command.op](command) });
  } catch (error) {
    answer({ id: command.id, failure: String(error?.stack ?? error) });
  }
});
lines.on("close", () => process.exit(0));
answer({ ready: Object.keys(versions) });
