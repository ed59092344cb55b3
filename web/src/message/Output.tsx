import { memo, useContext, useEffect, useState, type ReactNode } from "react";
import type { BlobRef } from "../model";
import { CodeBlock, Coloured } from "./Code";
import { LongText } from "./LongText";
import { Markdown } from "./Markdown";
import { fetchBlob, SlotsContext } from "./slots";
import { TerminalView } from "./Terminal";
import { bytes, count, head, lineCount, pretty, tail } from "./text";

export type Form = "plain" | "terminal" | "markdown" | "code";

type Props = {
  text: string;
  /** Where the whole text is, if this is a preview of it. */
  blob?: BlobRef;
  form: Form;
  /** Of code: its language, as a fence names it. */
  lang?: string;
  /** Which end says most: the beginning of a file, the end of a command's output. */
  from?: "head" | "tail";
  lines?: number;
  label: string;
  live?: boolean;
};

/** A result of any size: some lines of it, and all of it when asked for. */
export const Output = memo(function Output({ text, blob, form, lang = "", from = "head", lines = 12, label, live = false }: Props): ReactNode {
  const [all, setAll] = useState(false);
  const [full, setFull] = useState<string | null>(null);
  const whole = full ?? text;
  const cut = from === "tail" ? tail(whole, lines) : head(whole, lines);
  // What was watched live may be whole although there is a blob; no text has four bytes a character.
  const partial = blob !== undefined && full === null && text.length < blob.bytes / 4;
  const long = cut.hidden > 0 || cut.text.length < whole.trimEnd().length || partial;
  if (!long) return <Shown text={whole} form={form} lang={lang} label={label} />;
  const shown = all ? whole : cut.text;
  return (
    <div className={!all && from === "tail" ? "output output-tail" : "output"}>
      {!all && from === "tail" && cut.hidden > 0 && <p className="output-hidden">{partial || cut.hidden === Infinity ? "More above" : `${count(cut.hidden)} ${cut.hidden === 1 ? "line" : "lines"} above`}</p>}
      {/* Half a document of Markdown reads wrong. */}
      <Shown text={shown} form={all || form !== "markdown" ? form : "plain"} lang={lang} label={label} />
      {all ? (
        <button type="button" className="more" onClick={() => setAll(false)}>Show less</button>
      ) : partial && !live ? (
        <Load blob={blob} onText={(t) => { setFull(t); setAll(true); }} />
      ) : (
        <button type="button" className="more" onClick={() => setAll(true)}>
          Show all {size(whole)}
        </button>
      )}
    </div>
  );
});

function size(text: string): string {
  if (text.length > 1_000_000) return `(${bytes(text.length)})`;
  const lines = lineCount(text);
  const amount = text.length > 10_000 ? bytes(text.length) : "";
  return lines > 1 ? `${count(lines)} lines${amount && ` (${amount})`}` : amount;
}

function Shown({ text, form, lang, label }: { text: string; form: Form; lang: string; label: string }): ReactNode {
  if (form === "terminal") return <TerminalView text={text} label={label} />;
  if (form === "markdown") return <div className="result-text"><Markdown text={text} /></div>;
  return (
    <pre className="plain" tabIndex={0} role="group" aria-label={label} dir={form === "code" ? "ltr" : "auto"}>
      {form === "code" ? <Coloured code={text} lang={lang} /> : <LongText text={text} />}
    </pre>
  );
}

function Load({ blob, onText }: { blob: BlobRef; onText: (text: string) => void }): ReactNode {
  const { loadBlob = fetchBlob } = useContext(SlotsContext);
  const [loading, setLoading] = useState<AbortController | null>(null);
  const [fault, setFault] = useState("");
  useEffect(() => () => loading?.abort(), [loading]);
  const begin = () => {
    const control = new AbortController();
    setFault("");
    setLoading(control);
    loadBlob(blob, control.signal).then(onText, (err: unknown) => {
      if (control.signal.aborted) return;
      setLoading(null);
      setFault(err instanceof Error ? err.message : String(err));
    });
  };
  return (
    <>
      <button type="button" className="more" aria-disabled={loading !== null} onClick={() => loading ?? begin()}>
        {loading ? "Loading…" : `Load all (${bytes(blob.bytes)})`}
      </button>
      {fault && <p className="fault" role="alert">{fault}</p>}
    </>
  );
}

/** A result in the form that suits it: JSON indented, Markdown if it looks so, else as it is. */
export function Result({ text, blob, markdown, label }: { text: string; blob?: BlobRef; markdown: boolean; label: string }): ReactNode {
  const json = blob || text.length > 200_000 ? null : pretty(text);
  if (json && json.length < 4000) return <CodeBlock code={json} lang="json" open={false} label={label} />;
  return <Output text={json ?? text} blob={blob} form={markdown && looksLikeMarkdown(text) ? "markdown" : "plain"} label={label} />;
}

/** Whether text uses Markdown on purpose: two signs of it, or a fence. */
export function looksLikeMarkdown(text: string): boolean {
  const start = text.slice(0, 20_000);
  if (/^ {0,3}(?:```|~~~)/m.test(start)) return true;
  const signs = [/^#{1,6} \S/m, /\*\*[^*\s][^*\n]*\*\*/, /^\s*[-*] \S.*\n\s*[-*] \S/m, /\[[^\]\n]+\]\(https?:/, /^\|.+\|\n\|[ :|-]+\|/m, /`[^`\n]+`/];
  return signs.filter((s) => s.test(start)).length >= 2;
}
