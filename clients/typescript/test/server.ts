import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

/** The real binary on a folder of its own. AGENTSTREAM_BIN names it. */
export class Server {
  url = "";
  token = "";
  private constructor(private child: ChildProcess, private dir: string) {}

  static async start(...flags: string[]): Promise<Server> {
    const bin = process.env.AGENTSTREAM_BIN;
    if (!bin) throw new Error("AGENTSTREAM_BIN does not name the binary");
    const dir = mkdtempSync(path.join(tmpdir(), "agentstream-ts-"));
    const child = spawn(bin, ["serve", "--listen", "127.0.0.1:0", "--data", path.join(dir, "data"), ...flags], {
      cwd: dir, env: { ...process.env, AGENTSTREAM_DEMO_PACE: "0" }, stdio: ["ignore", "pipe", "inherit"],
    });
    const server = new Server(child, dir);
    await new Promise<void>((yes, no) => {
      let text = "";
      child.on("exit", () => no(new Error("the server ended: " + text)));
      child.stdout!.on("data", (b: Buffer) => {
        text += b.toString();
        const at = /listening on (\S+)\nopen \S+token=(\S+)\n/.exec(text);
        if (at) { server.url = at[1]!; server.token = at[2]!; yes(); }
      });
    });
    return server;
  }

  async json<T = any>(route: string, init: RequestInit = {}): Promise<T> {
    const r = await fetch(this.url + route, { ...init, headers: { Authorization: `Bearer ${this.token}`, ...init.headers } });
    if (!r.ok) throw new Error(`${route}: ${r.status} ${await r.text()}`);
    return (await r.json()) as T;
  }

  async stop(): Promise<void> {
    const gone = new Promise((yes) => this.child.once("exit", yes));
    this.child.kill("SIGTERM");
    await gone;
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** A TCP proxy that cuts each connection after as many bytes from the server as `budget` says. */
export class Cutter {
  cuts = 0;
  url = "";
  private sockets = new Set<net.Socket>();
  private server: net.Server;

  constructor(target: string, budget: () => number) {
    const to = new URL(target);
    this.server = net.createServer((client) => {
      const up = net.connect(Number(to.port), to.hostname);
      let left = budget();
      for (const s of [client, up]) {
        this.sockets.add(s);
        s.on("error", () => undefined);
        s.on("close", () => this.sockets.delete(s));
      }
      client.pipe(up);
      up.on("data", (b: Buffer) => {
        if (b.length < left) {
          left -= b.length;
          client.write(b);
          return;
        }
        this.cuts++;
        client.write(b.subarray(0, left), () => client.destroy());
        up.destroy();
      });
      up.on("end", () => client.end());
      client.on("close", () => up.destroy());
    });
  }

  async open(): Promise<this> {
    await new Promise<void>((yes) => this.server.listen(0, "127.0.0.1", yes));
    this.url = `http://127.0.0.1:${(this.server.address() as net.AddressInfo).port}`;
    return this;
  }

  close(): void {
    for (const s of this.sockets) s.destroy();
    this.server.close();
  }
}

/** A small generator whose seed makes a failure repeatable. */
export function random(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
