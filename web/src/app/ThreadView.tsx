import { useState, type ReactNode } from "react";
import type { Choice } from "../api";
import { UsageBar } from "../message";
import { connection } from "../store/connection";
import { useSignal } from "../store/signal";
import { refreshAgents, agents, threads } from "../store/threads";
import type { OpenThread, ThreadState } from "../store/thread";
import { Composer } from "./Composer";
import { Conversation } from "./Conversation";
import { go, reopen } from "./current";
import { DeleteDialog, RenameDialog } from "./dialogs";
import { Line } from "./Sidebar";
import { MenuButton } from "./Shell";
import { complain } from "./toast";
import { Tray } from "./Tray";
import { IconButton } from "./UiIcon";

export function ThreadView({ open }: { open: OpenThread }): ReactNode {
  const state = useSignal(open.state);
  if (state.phase === "unknown") {
    return <Failure title="This thread is not here" text="It was deleted, or the address is wrong." action="Begin a new thread" onAction={() => go("")} />;
  }
  if (state.phase === "failed") {
    return <Failure title="The thread could not be opened" text={state.error ?? ""} action="Try again" onAction={reopen} />;
  }
  const running = state.run !== undefined || state.starting;
  const waits = !running && state.pending.length > 0;
  return (
    <>
      <Bar open={open} state={state} />
      <Conversation open={open} />
      <Offline />
      <AgentGone state={state} />
      <Tray thread={open.id} />
      <Queue open={open} state={state} />
      <Composer key={open.id} thread={open.id} commands={state.thread?.commands} busy={running || waits} waits={waits}
        onSend={(content) => open.send(state.thread?.agent ?? "", content)} onStop={() => open.stop()} />
    </>
  );
}

function Bar({ open, state }: { open: OpenThread; state: ThreadState }): ReactNode {
  const [dialog, setDialog] = useState<"rename" | "delete" | undefined>();
  const t = state.thread;
  const title = t?.title || "Untitled";
  return (
    <header className="bar">
      <MenuButton />
      <div className="bar-title">
        <h1 className="clip" dir="auto" title={title}>{title}</h1>
        <p className="soft clip">{t ? <>{t.agent}<span className="bar-folder" title={t.cwd}> · <bdi>{t.cwd}</bdi></span></> : " "}</p>
      </div>
      <div className="bar-tools">
        {state.context && <UsageBar context={state.context} />}
        {t?.models && <Pick label="Model" choice={t.models} onPick={(model) => open.choose({ model })} />}
        {t?.modes && <Pick label="Mode" choice={t.modes} onPick={(mode) => open.choose({ mode })} />}
        <span className="narrow-only"><Line /></span>
      </div>
      <div className="bar-actions">
        <IconButton icon="pencil" label="Rename thread" onClick={() => setDialog("rename")} disabled={!t} />
        <IconButton icon="trash" label="Delete thread" onClick={() => setDialog("delete")} disabled={!t} />
      </div>
      {dialog === "rename" && t && <RenameDialog title={t.title ?? ""} onClose={() => setDialog(undefined)} onRename={(name) => open.choose({ title: name })} />}
      {dialog === "delete" && t && (
        <DeleteDialog title={title} busy={state.run !== undefined || state.pending.length > 0} onClose={() => setDialog(undefined)}
          onDelete={async (force) => {
            open.close(); // nothing may ask for it when it is gone
            try {
              await threads.remove(open.id, force);
            } catch (e) {
              reopen();
              throw e;
            }
            go("");
          }} />
      )}
    </header>
  );
}

function Pick({ label, choice, onPick }: { label: string; choice: Choice; onPick: (id: string) => Promise<void> }): ReactNode {
  const [busy, setBusy] = useState(false);
  const pick = async (id: string) => {
    setBusy(true);
    try {
      await onPick(id);
    } catch (e) {
      complain(e);
    }
    setBusy(false);
  };
  return (
    <select className="pick" aria-label={label} title={label} value={choice.current} disabled={busy} onChange={(e) => void pick(e.target.value)}>
      {choice.available.map((c) => <option key={c.id} value={c.id}>{c.name}</option>)}
    </select>
  );
}

function Queue({ open, state }: { open: OpenThread; state: ThreadState }): ReactNode {
  if (state.queue.length === 0) return null;
  return (
    <section className="queue" aria-label="Queue">
      <ul>
        {state.queue.map((q) => (
          <li key={q.id}>
            <span className="soft">Next</span>
            <span className="clip" dir="auto">{q.text || "A message"}</span>
            <IconButton icon="close" label={`Remove from the queue: ${q.text || "a message"}`} onClick={() => void open.unqueue(q.id).catch(complain)} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Said where one looks, as well as in the quiet line. */
function Offline(): ReactNode {
  if (useSignal(connection) !== "offline") return null;
  return <p className="banner" role="status">The server cannot be reached. What you see stays; what is new comes when it is back.</p>;
}

function AgentGone({ state }: { state: ThreadState }): ReactNode {
  const list = useSignal(agents);
  const agent = list.find((a) => a.name === state.thread?.agent);
  if (!agent || agent.state === "ready") return null;
  return (
    <p className="banner" role="status">
      {agent.name} is {agent.state === "auth_required" ? "not signed in" : "not installed"}.{" "}
      {agent.install && <code>{agent.install}</code>}{" "}
      <button type="button" className="link" onClick={() => void refreshAgents()}>Look again</button>
    </p>
  );
}

function Failure({ title, text, action, onAction }: { title: string; text: string; action: string; onAction: () => void }): ReactNode {
  return (
    <>
      <header className="bar"><MenuButton /></header>
      <div className="empty">
        <h1>{title}</h1>
        <p className="soft">{text}</p>
        <button type="button" className="button button-main" onClick={onAction}>{action}</button>
      </div>
    </>
  );
}
