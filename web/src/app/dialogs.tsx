import { useState, type FormEvent, type ReactNode } from "react";
import { Signal, useSignal } from "../store/signal";
import { keep, kept } from "../store/local";
import { Dialog } from "./Dialog";
import { complain } from "./toast";

export function RenameDialog({ title, onRename, onClose }: { title: string; onRename: (title: string) => Promise<void>; onClose: () => void }): ReactNode {
  const [name, setName] = useState(title);
  const submit = (e: FormEvent) => {
    e.preventDefault();
    onRename(name.trim()).then(onClose, complain);
  };
  return (
    <Dialog title="Rename thread" onClose={onClose}>
      <form onSubmit={submit}>
        <div className="field">
          <label htmlFor="thread-name">Name</label>
          <input id="thread-name" value={name} maxLength={200} dir="auto" autoFocus onFocus={(e) => e.target.select()} onChange={(e) => setName(e.target.value)} />
        </div>
        <div className="dialog-buttons">
          <button type="button" className="button" onClick={onClose}>Cancel</button>
          <button type="submit" className="button button-main" disabled={name.trim() === ""}>Rename</button>
        </div>
      </form>
    </Dialog>
  );
}

export function DeleteDialog({ title, busy, onDelete, onClose }: { title: string; busy: boolean; onDelete: (force: boolean) => Promise<void>; onClose: () => void }): ReactNode {
  const [doing, setDoing] = useState(false);
  const run = async () => {
    setDoing(true);
    try {
      await onDelete(busy);
    } catch (e) {
      complain(e);
      setDoing(false);
      onClose();
    }
  };
  return (
    <Dialog title="Delete thread" onClose={onClose}>
      <p><strong dir="auto">{title}</strong> and all that was said in it will be gone.{busy && " The agent is at work: it will be stopped."}</p>
      <div className="dialog-buttons">
        <button type="button" className="button" autoFocus onClick={onClose}>Cancel</button>
        <button type="button" className="button button-bad" disabled={doing} onClick={() => void run()}>{busy ? "Stop and delete" : "Delete"}</button>
      </div>
    </Dialog>
  );
}

/** Whether single letters are shortcuts; those with Alt always are. */
export const letters = new Signal(kept("letters") !== "off");

const keys: [string, string][] = [
  ["Enter", "Send"],
  ["Shift+Enter", "New line"],
  ["/", "Commands, at the start of a message"],
  ["@", "Files"],
  ["Alt+S", "Stop"],
  ["Alt+A", "Go to what needs an answer"],
  ["1 – 9", "Choose an answer, in its card"],
  ["Alt+M", "Go to the message field"],
  ["Alt+C", "Go to the conversation"],
  ["Alt+N", "New thread"],
  ["Alt+↑, Alt+↓", "Thread above, thread below"],
  ["?", "This sheet (Alt+H always)"],
  ["Escape", "Close a list, a dialog, the drawer"],
];

export function HelpDialog({ onClose }: { onClose: () => void }): ReactNode {
  const on = useSignal(letters);
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl className="keys">
        {keys.map(([key, does]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{does}</dd></div>)}
      </dl>
      <div className="field field-check">
        <input id="letters" type="checkbox" checked={on} onChange={(e) => { letters.set(e.target.checked); keep("letters", e.target.checked ? "" : "off"); }} />
        <label htmlFor="letters">Keys without Alt work outside of fields</label>
      </div>
    </Dialog>
  );
}
