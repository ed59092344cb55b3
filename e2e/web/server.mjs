// A server of its own for a test: the real binary, with folders of its own.
import { spawn } from "node:child_process";
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
export const binary = process.env.AGENTSTREAM_BIN ?? join(root, "bin", "agentstream");

/** Patience is how long a condition may take on a loaded machine, in ms. */
export const patience = Number(process.env.AGENTSTREAM_PATIENCE ?? 60_000);

export class Server {
  #child;
  #config;

  /** pace is the demo's, in percent: 0 waits for nothing. */
  static async start({ pace = 0, config = "", env = {} } = {}) {
    const s = new Server();
    s.dir = mkdtempSync(join(tmpdir(), "agentstream-web-"));
    s.cwd = join(s.dir, "work");
    for (const name of ["work", "data", "home"]) mkdirSync(join(s.dir, name));
    s.env = { PATH: process.env.PATH, HOME: join(s.dir, "home"), TMPDIR: tmpdir(), TERM: "dumb", LANG: "C.UTF-8", AGENTSTREAM_DEMO_PACE: String(pace), ...env };
    s.#config = "/dev/null";
    if (config) {
      s.#config = join(s.dir, "config.yaml");
      writeFileSync(s.#config, config);
    }
    await s.#run("127.0.0.1:0");
    return s;
  }

  async #run(listen) {
    const args = ["serve", "--listen", listen, "--data", join(this.dir, "data"), "--config", this.#config, "--verify"];
    const child = spawn(binary, args, { cwd: this.cwd, env: this.env, stdio: ["ignore", "pipe", "pipe"] });
    this.#child = child;
    this.log = "";
    child.stderr.on("data", (d) => (this.log += d));
    this.ended = new Promise((done) => child.once("exit", done));
    const lines = createInterface({ input: child.stdout });
    const said = [];
    for await (const line of lines) {
      said.push(line);
      if (said.length === 2) break;
    }
    if (said.length < 2) throw new Error(`the server did not start: ${said}\n${this.log}`);
    child.stdout.resume();
    this.url = said[0].replace("agentstream listening on ", "");
    this.signIn = said[1].replace(/^open /, "");
    this.token = new URL(this.signIn).searchParams.get("token");
  }

  /** kill is kill -9. */
  async kill() {
    this.#child.kill("SIGKILL");
    await this.ended;
  }

  async term() {
    this.#child.kill("SIGTERM");
    await this.ended;
  }

  /** again starts it anew, at the same address with the same data. */
  async again() {
    await this.#run(new URL(this.url).host);
  }

  async stop() {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.term();
    rmSync(this.dir, { recursive: true, force: true });
  }

  async api(method, path, body) {
    const r = await fetch(this.url + path, {
      method,
      headers: { Authorization: `Bearer ${this.token}`, ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await r.text();
    if (!r.ok) throw new Error(`${method} ${path}: ${r.status} ${text}`);
    return text ? JSON.parse(text) : undefined;
  }

  /** say starts a run and waits for its end, or only starts it. */
  async say(thread, input, { agent = "demo", wait = true } = {}) {
    const run = await this.api("POST", `/v1/threads/${thread}/runs`, { agent, input });
    for (let cursor = ""; wait; ) {
      const list = await this.api("GET", `/v1/threads?wait=25s&since=${cursor}`);
      cursor = list.cursor;
      const t = list.threads.find((one) => one.id === thread);
      if (t?.state !== "running" && t?.lastRun?.id === run.id) break;
    }
    return run;
  }
}
