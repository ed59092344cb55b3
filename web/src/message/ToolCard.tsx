import { memo, useContext, useMemo, useRef, type ReactNode } from "react";
import type { FileDiff, Location, Part, ToolCall } from "../model";
import { CodeBlock } from "./Code";
import { DiffCount, DiffView } from "./DiffView";
import { diffOf } from "./diff";
import { Fold } from "./Fold";
import { languageOfPath } from "./highlight";
import { Icon, kindIcon } from "./icons";
import { Line } from "./Line";
import { MediaView } from "./MediaView";
import { Output, Result } from "./Output";
import { PartView, partKey } from "./PartView";
import { SlotsContext } from "./slots";
import { StateMark } from "./State";
import { clean, fields, pretty } from "./text";

const kindNames: Record<string, string> = {
  read: "Read", edit: "Edit", delete: "Delete", move: "Move", search: "Search", execute: "Run", think: "Think", fetch: "Fetch", other: "Tool",
};

/** One tool call: a line that says what is done and how it stands, and unfolds to what went in and came out. */
export const ToolCard = memo(function ToolCard({ call, nested }: { call: ToolCall; nested?: readonly Part[] }): ReactNode {
  const { renderApproval } = useContext(SlotsContext);
  const wasRunning = useRef(false);
  if (call.state === "running" && call.output) wasRunning.current = true;
  const waiting = call.request !== undefined;
  // Output that was watched does not close under the reader's eyes.
  const open = waiting || call.state === "failed" || hasDiffs(call) || wasRunning.current || (nested?.length ?? 0) > 0;
  const kind = call.kind in kindNames ? call.kind : "other";
  // Some agents name the file alone.
  const bare = ["read", "edit", "delete", "search", "fetch"].includes(kind) && /^\S*[./]\S*$/.test(call.title.trim());
  const head = (
    <>
      <Icon name={kindIcon(kind)} label={bare ? undefined : `${kindNames[kind]}:`} />
      {bare && <span className="card-verb">{kindNames[kind]}</span>}
      <Title call={call} />
      <Badges call={call} />
      <StateMark state={call.state} waiting={waiting} startedAt={call.startedAt} endedAt={call.endedAt} />
    </>
  );
  const approval = call.request && renderApproval ? <div className="card-approval">{renderApproval(call.request)}</div> : null;
  return (
    <Fold className={`card card-${kind} card-is-${waiting ? "waiting" : call.state}`} head={head} open={open} empty={isEmpty(call, nested)} always={null}>
      {() => (
        <>
          <Body call={call} kind={kind} />
          {nested && nested.length > 0 && <div className="nested">{nested.map((p, i) => <PartView key={partKey(p, i)} part={p} />)}</div>}
          {approval}
        </>
      )}
    </Fold>
  );
});

function hasDiffs(call: ToolCall): boolean {
  return (call.diffs?.length ?? 0) > 0;
}

function isEmpty(call: ToolCall, nested?: readonly Part[]): boolean {
  const noArgs = call.args.trim() === "" || call.args.trim() === "{}";
  return noArgs && !call.result && !call.resultBlob && !call.output && !hasDiffs(call) && !call.media?.length && !call.locations?.length && !call.request && !nested?.length;
}

// A command is code as a whole.
function Title({ call }: { call: ToolCall }): ReactNode {
  const text = clean((call.title || call.name).replace(/\s+/g, " ").trim());
  const whole = /^`[^`]+`$/.test(text);
  if (call.kind === "execute" && (whole || commandOf(call) === text)) return <bdi className="card-title mono" title={text}>{whole ? text.slice(1, -1) : text}</bdi>;
  return <bdi className="card-title" title={text}><Line text={text} /></bdi>;
}

function Badges({ call }: { call: ToolCall }): ReactNode {
  const sum = useMemo(() => {
    const shown = changes(call.diffs ?? []);
    const n = { added: 0, removed: 0, files: new Set(shown.map((d) => d.path)).size };
    for (const d of shown) {
      const one = diffOf(d);
      n.added += one.added;
      n.removed += one.removed;
    }
    return n;
  }, [call.diffs]);
  return (
    <>
      {sum.files > 1 && <span className="tag">{sum.files} files</span>}
      {sum.files > 0 && <DiffCount added={sum.added} removed={sum.removed} />}
      {call.exitCode !== undefined && call.exitCode !== 0 && <span className="tag tag-bad">exit {call.exitCode}</span>}
    </>
  );
}

// Agents show an edit first as what they were told and then as what became of the file,
// or one edit twice: what a later one of the same file holds is shown there.
function changes(diffs: readonly FileDiff[]): readonly FileDiff[] {
  return diffs.filter((d, i) => !diffs.slice(i + 1).some((later) => later.path === d.path && later.newText.includes(d.newText) && (later.oldText ?? "").includes(d.oldText ?? "")));
}

function Body({ call, kind }: { call: ToolCall; kind: string }): ReactNode {
  const diffs = useMemo(() => changes(call.diffs ?? []), [call.diffs]);
  const command = kind === "execute" ? commandOf(call) : "";
  const output = call.output ?? (kind === "execute" ? call.result : undefined);
  const live = call.state === "running";
  return (
    <>
      {(call.state === "cancelled" || call.state === "interrupted") && <Ending state={call.state} />}
      {diffs.map((d, i) => <DiffView key={`${i}:${d.path}`} diff={d} />)}
      {command && <pre className="command" tabIndex={0} role="group" aria-label="Command" dir="ltr"><code>{clean(command)}</code></pre>}
      <Arguments call={call} kind={kind} />
      {output !== undefined && output !== "" && (
        <Output text={output} blob={ownResult(call, output) ? undefined : call.resultBlob} form="terminal" from={call.state === "failed" || live || kind === "execute" ? "tail" : "head"} label="Output" live={live} />
      )}
      {kind === "execute" && call.state !== "running" && call.exitCode !== undefined && <p className="exit">Exit code {call.exitCode}</p>}
      {ownResult(call, output) && !repeats(call) && <ResultOf call={call} kind={kind} />}
      {call.media?.map((m, i) => <MediaView key={i} media={m} />)}
      <Locations list={call.locations} said={[...diffs.map((d) => d.path), ...Object.values(fields(call.args))]} />
    </>
  );
}

function Ending({ state }: { state: "cancelled" | "interrupted" }): ReactNode {
  return (
    <p className={`ending ending-${state}`}>
      <Icon name={state} />
      {state === "cancelled" ? "Cancelled: it was stopped on request." : "Interrupted: it was cut off before it gave a result, and may have done part of its work."}
    </p>
  );
}

// What a terminal showed is not shown again as the result.
function ownResult(call: ToolCall, output: string | undefined): boolean {
  return call.result !== undefined && call.result !== "" && call.result.trimEnd() !== output?.trimEnd();
}

// Nothing that a diff or the terminal above says already.
function Arguments({ call, kind }: { call: ToolCall; kind: string }): ReactNode {
  const text = call.args.trim();
  if (text === "" || text === "{}") return null;
  const values = fields(text);
  const shownAbove = kind === "execute" && commandOf(call) !== "" ? ["command", "cmd", "description"] : [];
  const keys = Object.keys(values).filter((k, i, all) => !shownAbove.includes(k) && !(typeof values[k] === "string" && all.slice(0, i).some((b) => values[b] === values[k])));
  if (keys.length === 0 && shownAbove.length > 0) return null;
  if (hasDiffs(call)) return null;
  const simple = keys.length > 0 && keys.length <= 6 && keys.every((k) => isShort(values[k]));
  if (simple) {
    return (
      <dl className="args">
        {keys.map((k) => (
          <div key={k}>
            <dt>{clean(k)}</dt>
            <dd><bdi>{clean(String(values[k]))}</bdi></dd>
          </div>
        ))}
      </dl>
    );
  }
  const json = pretty(text);
  if (json !== null && json.length > 4000) return <Output text={json} form="plain" label="Arguments" />;
  return <CodeBlock code={json ?? tailOf(text)} lang="json" open={json === null && (call.state === "queued" || call.state === "running")} label="arguments" />;
}

function isShort(v: unknown): boolean {
  return typeof v === "number" || typeof v === "boolean" || (typeof v === "string" && v.length <= 200 && !v.includes("\n"));
}

// Half an argument of megabytes: its end is where something happens.
function tailOf(text: string): string {
  return text.length > 20_000 ? "… " + text.slice(-20_000) : text;
}

function ResultOf({ call, kind }: { call: ToolCall; kind: string }): ReactNode {
  const text = call.result!;
  if (call.state === "failed") return <div className="card-failed"><Output text={text} blob={call.resultBlob} form="plain" label="Error" /></div>;
  const lang = kind === "read" ? languageOfPath(pathOf(call)) : null;
  if (lang) return <Output text={text} blob={call.resultBlob} form="code" lang={lang} label="File" />;
  return <Result text={text} blob={call.resultBlob} markdown={kind !== "read" && kind !== "search"} label="result" />;
}

// Agents answer an edit with the diff again, or with one line that says it is done; a
// picture's result names its type where the picture is meant.
function repeats(call: ToolCall): boolean {
  const said = call.result ?? "";
  if (call.media?.length && /^\s*\[\w+ [\w/+.-]+\]\s*$/.test(said)) return true;
  return hasDiffs(call) && call.state === "done" && ((said.length < 200 && !said.trim().includes("\n")) || call.diffs!.some((d) => d.newText === said) || /^diff --git|^--- |^@@ /m.test(said));
}

function pathOf(call: ToolCall): string {
  const { path, file_path: file } = fields(call.args);
  return call.locations?.[0]?.path ?? (typeof path === "string" ? path : typeof file === "string" ? file : "");
}

function commandOf(call: ToolCall): string {
  const { command, cmd } = fields(call.args);
  const value = command ?? cmd;
  if (typeof value === "string") return value;
  return Array.isArray(value) && value.every((v) => typeof v === "string") ? value.join(" ") : "";
}

// What a diff or an argument names already is not said again, unless there is a line.
function Locations({ list, said }: { list?: Location[]; said: unknown[] }): ReactNode {
  const rest = list?.filter((l) => !said.includes(l.path) || (l.line !== undefined && l.line > 1)) ?? [];
  if (rest.length === 0) return null;
  return (
    <ul className="locations" aria-label="Files">
      {rest.map((l, i) => (
        <li key={i}><Icon name="pin" /><bdi>{clean(l.path)}{l.line !== undefined && `:${l.line}`}</bdi></li>
      ))}
    </ul>
  );
}
