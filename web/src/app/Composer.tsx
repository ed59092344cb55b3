import { useEffect, useId, useLayoutEffect, useRef, useState, type ClipboardEvent, type DragEvent, type KeyboardEvent, type ReactNode } from "react";
import type { Command, ContentPart } from "../api";
import { draftOf, keepDraft } from "../store/local";
import { Signal, useSignal } from "../store/signal";
import { attach, contentOf, type Attachment } from "./attach";
import { complain } from "./toast";
import { IconButton, UiIcon } from "./UiIcon";
import { useSuggestions } from "./useSuggestions";

/** Text that is to be edited and said again, put here by a message. */
export const editing = new Signal<{ thread: string; text: string } | undefined>(undefined);

type Props = {
  /** Whose draft it is; "" is that of a new thread. */
  thread: string;
  commands?: readonly Command[] | undefined;
  /** Something runs or waits: what is sent is queued, and can be stopped. */
  busy: boolean;
  waits?: boolean;
  disabled?: string | undefined;
  onSend: (content: string | ContentPart[]) => Promise<void>;
  onStop?: () => Promise<void>;
};

/** Where one types. Give it the thread as key: its text is the thread's draft. */
export function Composer({ thread, commands, busy, waits, disabled, onSend, onStop }: Props): ReactNode {
  const [text, setText] = useState(() => draftOf(thread));
  const [caret, setCaret] = useState(0);
  const [files, setFiles] = useState<readonly Attachment[]>([]);
  const [sending, setSending] = useState(false);
  const [stopping, setStopping] = useState(false);
  const [over, setOver] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const help = useId();
  const edit = useSignal(editing);
  const menu = useMenu(thread, commands, text, caret, (next, at) => {
    write(next);
    requestAnimationFrame(() => field.current?.setSelectionRange(at, at));
    setCaret(at);
  });

  const write = (next: string) => {
    setText(next);
    keepDraft(thread, next);
  };
  useEffect(() => {
    if (edit?.thread !== thread) return;
    write(edit.text);
    editing.set(undefined);
    field.current?.focus();
  }, [edit, thread]); // eslint-disable-line
  useEffect(() => {
    if (!busy) setStopping(false);
  }, [busy]);
  useLayoutEffect(() => {
    const t = field.current!;
    t.style.blockSize = "auto";
    t.style.blockSize = t.scrollHeight + 2 + "px";
  }, [text]);

  const can = !sending && !disabled && (text.trim() !== "" || files.length > 0);
  const send = async () => {
    if (!can) return;
    const said = text;
    const with_ = files;
    setSending(true);
    setText("");
    setFiles([]);
    try {
      await onSend(contentOf(said.trim(), with_));
      // What was typed while it was on its way stays.
      keepDraft(thread, field.current?.value ?? "");
    } catch (e) {
      setText((now) => now || said);
      setFiles((now) => (now.length > 0 ? now : with_));
      keepDraft(thread, said);
      complain(e);
    }
    setSending(false);
    field.current?.focus();
  };
  const stop = async () => {
    setStopping(true);
    try {
      await onStop?.();
    } catch (e) {
      complain(e);
    }
    setStopping(false);
  };
  const take = async (list: Iterable<File>) => {
    for (const file of list) {
      try {
        const a = await attach(file);
        setFiles((now) => [...now, a]);
      } catch (e) {
        complain(e);
      }
    }
  };
  const onKeyDown = (e: KeyboardEvent<HTMLTextAreaElement>) => {
    if (e.nativeEvent.isComposing || e.keyCode === 229 || menu.key(e)) return;
    if (e.key === "Enter" && !e.shiftKey && !e.altKey) {
      e.preventDefault();
      void send();
    }
  };
  const onPaste = (e: ClipboardEvent) => {
    if (e.clipboardData.files.length === 0) return;
    e.preventDefault();
    void take([...e.clipboardData.files]);
  };
  const onDrop = (e: DragEvent) => {
    setOver(false);
    if (e.dataTransfer.files.length === 0) return;
    e.preventDefault();
    void take([...e.dataTransfer.files]);
  };
  return (
    <form className={"composer" + (over ? " composer-over" : "")} aria-label="Composer" onSubmit={(e) => { e.preventDefault(); void send(); }}
      onDragOver={(e) => { if (e.dataTransfer.types.includes("Files")) { e.preventDefault(); setOver(true); } }} onDragLeave={() => setOver(false)} onDrop={onDrop}>
      {menu.list}
      {files.length > 0 && (
        <ul className="attachments" aria-label="Attachments">
          {files.map((f) => (
            <li key={f.id}>
              {f.preview ? <img src={f.preview} alt="" /> : <UiIcon name="attach" />}
              <span className="clip">{f.name}</span>
              <IconButton icon="close" label={`Remove ${f.name}`} onClick={() => setFiles((now) => now.filter((x) => x.id !== f.id))} />
            </li>
          ))}
        </ul>
      )}
      <div className="composer-row">
        <IconButton icon="attach" label="Attach files" onClick={() => picker.current?.click()} />
        <input ref={picker} type="file" multiple hidden onChange={(e) => { void take([...(e.target.files ?? [])]); e.target.value = ""; }} />
        <textarea ref={field} rows={1} dir="auto" aria-label="Message" aria-describedby={help} value={text} {...menu.aria}
          placeholder={disabled ?? (waits ? "Sent after your answer" : busy ? "Sent when this is done" : "Ask the agent")}
          onChange={(e) => { write(e.target.value); setCaret(e.target.selectionStart); }}
          onSelect={(e) => setCaret(e.currentTarget.selectionStart)} onKeyDown={onKeyDown} onPaste={onPaste} />
        {busy && onStop && (
          <button type="button" className="button button-stop" onClick={() => void stop()} disabled={stopping} title="Stop (Alt+S)"><UiIcon name="stop" />{stopping ? "Stopping" : "Stop"}</button>
        )}
        <button type="submit" className="button button-main button-send" disabled={!can} title={busy ? "Send when this is done" : "Send (Enter)"}>
          <UiIcon name={busy ? "queue" : "send"} /><span>{busy ? "Queue" : "Send"}</span>
        </button>
      </div>
      <span id={help} className="visually-hidden">Enter sends, Shift and Enter break the line. A slash lists commands, an at sign lists files.</span>
    </form>
  );
}

/** The list over the field: arrows choose, Enter or Tab takes, Escape closes. */
function useMenu(thread: string, commands: readonly Command[] | undefined, text: string, caret: number, write: (text: string, caret: number) => void) {
  const found = useSuggestions(thread || undefined, commands, text, caret);
  const [chosen, setChosen] = useState(0);
  const [shut, setShut] = useState("");
  const id = useId();
  const open = found !== undefined && shut !== text && found.items[0]?.insert.trim() !== text;
  const items = open ? found.items : [];
  const at = Math.min(chosen, items.length - 1);
  const current = useRef<HTMLLIElement>(null);
  useEffect(() => setChosen(0), [found]);
  useEffect(() => current.current?.scrollIntoView({ block: "nearest" }), [at, open]);
  const take = (i: number) => {
    const item = items[i];
    if (!item || !found) return;
    const next = text.slice(0, found.from) + item.insert + text.slice(found.to);
    if (!item.insert.endsWith("/")) setShut(next);
    write(next, found.from + item.insert.length);
  };
  const key = (e: KeyboardEvent): boolean => {
    if (!open) return false;
    if (e.key === "ArrowDown" || e.key === "ArrowUp") setChosen((at + (e.key === "ArrowDown" ? 1 : items.length - 1)) % items.length);
    else if (e.key === "Tab" || (e.key === "Enter" && !e.shiftKey)) take(at);
    else if (e.key === "Escape") setShut(text);
    else return false;
    e.preventDefault();
    e.stopPropagation();
    return true;
  };
  const list = open && (
    <ul className="suggestions" id={id} role="listbox" tabIndex={0} aria-label={found.kind === "command" ? "Commands" : "Files"}>
      {items.map((item, i) => (
        <li key={item.insert} id={`${id}-${i}`} role="option" aria-selected={i === at} ref={i === at ? current : null} onPointerDown={(e) => { e.preventDefault(); take(i); }}>
          <span className="suggestion-name">{item.label}</span>
          {item.detail && <small dir="auto">{item.detail}</small>}
        </li>
      ))}
    </ul>
  );
  const aria = open ? { "aria-haspopup": "listbox" as const, "aria-controls": id, "aria-activedescendant": `${id}-${at}`, "aria-autocomplete": "list" as const } : {};
  return { key, list, aria };
}
