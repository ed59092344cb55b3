import { useEffect, useRef, useState, type ReactNode } from "react";
import type { Thread } from "../api";
import { connection } from "../store/connection";
import { setTheme, theme, type Theme } from "../store/local";
import { useSignal } from "../store/signal";
import { threads } from "../store/threads";
import { current, go } from "./current";
import { askPermission, permission } from "./notify";
import { ago } from "./ago";
import { IconButton, UiIcon } from "./UiIcon";

type Props = { onClose: () => void; onHelp: () => void };

export function Sidebar({ onClose, onHelp }: Props): ReactNode {
  const { threads: list, next, phase, error } = useSignal(threads.list);
  const query = useSignal(threads.query);
  const open = useSignal(current);
  const [text, setText] = useState(query);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const search = (q: string) => {
    setText(q);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => threads.search(q.trim()), 150);
  };
  return (
    <nav className="sidebar" aria-label="Threads">
      <header>
        <span className="brand">agentstream</span>
        <IconButton icon="close" label="Close threads" className="drawer-only" onClick={onClose} />
      </header>
      <button type="button" className="button new-thread" onClick={() => { go(""); onClose(); }} title="New thread (Alt+N)"><UiIcon name="plus" />New thread</button>
      <div className="search">
        <UiIcon name="search" />
        <input type="search" aria-label="Search threads" placeholder="Search" value={text} onChange={(e) => search(e.target.value)} dir="auto" />
      </div>
      <div className="thread-list">
        {phase === "loading" && <div className="skeleton" role="status" aria-label="Loading threads"><span /><span /><span /></div>}
        {phase === "failed" && <p className="list-note" role="status">{error} <button type="button" className="link" onClick={() => void threads.refresh()}>Try again</button></p>}
        {phase === "ready" && list.length === 0 && <p className="list-note">{query ? "No thread matches." : "No threads yet."}</p>}
        {list.length > 0 && (
          <ul>
            {list.map((t) => <Item key={t.id} thread={t} open={open?.id === t.id} onOpen={() => { go(t.id); onClose(); }} />)}
          </ul>
        )}
        {next && <button type="button" className="button center" onClick={() => threads.more()}>More</button>}
      </div>
      <footer>
        <Line />
        <Notify />
        <ThemeButton />
        <IconButton icon="help" label="Keyboard and help" onClick={onHelp} />
      </footer>
    </nav>
  );
}

const words: Record<string, string> = { running: "running", waiting: "needs you", failed: "failed", lost: "failed", cancelled: "stopped", finished: "done" };

function Item({ thread: t, open, onOpen }: { thread: Thread; open: boolean; onOpen: () => void }): ReactNode {
  const state = t.pending > 0 ? "waiting" : t.state !== "idle" ? t.state : (t.lastRun?.state ?? "new");
  return (
    <li>
      <a href={"/t/" + encodeURIComponent(t.id)} className="thread" aria-current={open ? "page" : undefined}
        onClick={(e) => { if (e.ctrlKey || e.metaKey || e.shiftKey) return; e.preventDefault(); onOpen(); }}>
        <span className="thread-title clip" dir="auto">{t.title || "Untitled"}</span>
        <span className="thread-about">
          <span className={"mark mark-" + state} aria-hidden="true" />
          <span className={"thread-state state-" + state}>{words[state] ?? "new"}</span>
          <span className="clip">{t.agent}</span>
          <Ago at={t.updatedAt} />
        </span>
      </a>
    </li>
  );
}

function Ago({ at }: { at: string }): ReactNode {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 30_000);
    return () => clearInterval(timer);
  }, []);
  return <time dateTime={at} title={new Date(at).toLocaleString()}>{ago(new Date(at).getTime(), now)}</time>;
}

const lines = { live: "Live", "catching-up": "Catching up", offline: "Offline" };

/** The quiet line: whether what is shown is the newest. */
export function Line(): ReactNode {
  const now = useSignal(connection);
  return <span className={"line line-" + now} role="status" aria-label="Connection"><span className="line-dot" aria-hidden="true" />{lines[now]}</span>;
}

function Notify(): ReactNode {
  const now = useSignal(permission);
  if (now !== "default") return null;
  return <IconButton icon="bell" label="Notify me when an agent needs me" onClick={() => void askPermission()} />;
}

const order: Theme[] = ["system", "light", "dark"];
const icons = { system: "system", light: "sun", dark: "moon" } as const;

function ThemeButton(): ReactNode {
  const now = useSignal(theme);
  const next = order[(order.indexOf(now) + 1) % order.length]!;
  return <IconButton icon={icons[now]} label={`Colours: ${now}. Change to ${next}`} onClick={() => setTheme(next)} />;
}
