import { useEffect, useState, type ReactNode } from "react";
import type { Agent } from "../api";
import { keep, kept } from "../store/local";
import { useSignal } from "../store/signal";
import { agents, refreshAgents } from "../store/threads";
import { Composer } from "./Composer";
import { begin } from "./current";
import { MenuButton } from "./Shell";
import { Tray } from "./Tray";
import { CopyButton } from "../message";

/** The page that begins a thread: agent, folder, first words. */
export function NewThread(): ReactNode {
  const list = useSignal(agents);
  const [name, setName] = useState(() => kept("agent"));
  const [cwd, setCwd] = useState(() => kept("cwd"));
  useEffect(() => void refreshAgents(), []);
  const ready = list.filter((a) => a.state === "ready");
  const chosen = list.find((a) => a.name === name && a.state === "ready") ?? ready.find((a) => a.name !== "demo") ?? ready[0];
  const choose = (a: Agent) => {
    setName(a.name);
    keep("agent", a.name);
  };
  return (
    <>
      <header className="bar"><MenuButton /><h1 className="clip">New thread</h1></header>
      <div className="log new-page" tabIndex={0} role="region" aria-label="New thread">
        <div className="column">
          <h2>Who is to help?</h2>
          {list.length === 0 ? <div className="skeleton" role="status" aria-label="Loading agents"><span /><span /></div> : (
            <fieldset className="agents">
              <legend className="visually-hidden">Agent</legend>
              {ready.map((a) => (
                <label key={a.name} className="agent">
                  <input type="radio" name="agent" value={a.name} checked={a === chosen} onChange={() => choose(a)} />
                  <span className="agent-name">{a.name}</span>
                  <span className="soft clip">{a.name === "demo" ? "built in; ask it “help”" : a.version ? `version ${a.version}` : a.type.toUpperCase()}</span>
                </label>
              ))}
            </fieldset>
          )}
          <div className="field">
            <label htmlFor="cwd">Folder <span className="soft">(optional)</span></label>
            <input id="cwd" type="text" value={cwd} placeholder="The agent’s own" spellCheck={false} autoComplete="off" onChange={(e) => { setCwd(e.target.value); keep("cwd", e.target.value); }} />
          </div>
          <Missing list={list.filter((a) => a.state !== "ready")} />
        </div>
      </div>
      <Tray thread="" />
      <Composer key="new" thread="" busy={false} disabled={chosen ? undefined : "No agent is ready"} onSend={(content) => begin(chosen!.name, cwd.trim(), content)} />
    </>
  );
}

function Missing({ list }: { list: readonly Agent[] }): ReactNode {
  if (list.length === 0) return null;
  return (
    <details className="missing">
      <summary>{list.length} more can be added</summary>
      <ul>
        {list.map((a) => (
          <li key={a.name}>
            <span className="agent-name">{a.name}</span>
            <span className="soft">{a.state === "auth_required" ? "not signed in" : "not installed"}</span>
            {a.install && <span className="install"><code>{a.install}</code><CopyButton text={a.install} label={`Copy the command for ${a.name}`} /></span>}
          </li>
        ))}
      </ul>
    </details>
  );
}
