import { lazy, memo, Suspense, useEffect, useRef, useState, type ReactNode } from "react";
import { languageOf, load, ready, type Run } from "./highlight";
import { Icon } from "./icons";
import { LongText } from "./LongText";
import { clean } from "./text";

const Diagram = lazy(() => import("./Diagram"));

/** Longer code has no colours: they would take longer than a frame. */
const COLOURED = 40_000;
/** While code streams its colours follow at this distance, in milliseconds. */
const PACE = 250;

/** The kinds of diagram that can be drawn here; others stay as they are written. */
const drawable = /^\s*(?:(?:%%.*|---[^]*?---)\s+)*(?:graph|flowchart|stateDiagram|sequenceDiagram|classDiagram|erDiagram)\b/;

type Props = { code: string; lang: string; open: boolean; label?: string };

/** A block of code with its language, copying and wrapping. open: more of it is to come. */
export const CodeBlock = memo(function CodeBlock({ code, lang, open, label }: Props): ReactNode {
  const [wrap, setWrap] = useState(false);
  const [drawn, setDrawn] = useState(true);
  const diagram = lang.toLowerCase() === "mermaid" && !open && drawable.test(code) && code.length < 50_000;
  const shown = clean(label ?? lang);
  return (
    <div className="code">
      <div className="code-head">
        <span className="code-lang">{shown || "text"}</span>
        {diagram && (
          <button type="button" className="code-button" aria-pressed={drawn} onClick={() => setDrawn(!drawn)}>
            <Icon name="diagram" label="Diagram" />
          </button>
        )}
        <button type="button" className="code-button" aria-pressed={wrap} onClick={() => setWrap(!wrap)}>
          <Icon name="wrap" label="Wrap lines" />
        </button>
        <CopyButton text={code} label="Copy code" />
      </div>
      {diagram && drawn ? (
        <Suspense fallback={<Source code={code} lang={lang} open wrap={wrap} name={shown} />}>
          <Diagram code={code} fallback={<Source code={code} lang={lang} open wrap={wrap} name={shown} />} />
        </Suspense>
      ) : (
        <Source code={code} lang={lang} open={open} wrap={wrap} name={shown} />
      )}
    </div>
  );
});

function Source({ code, lang, open, wrap, name }: { code: string; lang: string; open: boolean; wrap: boolean; name: string }): ReactNode {
  return (
    <pre className={wrap ? "code-body wrapped" : "code-body"} tabIndex={0} role="group" aria-label={name ? `Code, ${name}` : "Code"} dir="ltr">
      <Coloured code={code} lang={lang} open={open} />
    </pre>
  );
}

/** Code in the colours of its language, if there are some; plain until they are loaded. */
export function Coloured({ code, lang, open = false }: { code: string; lang: string; open?: boolean }): ReactNode {
  const runs = useRuns(code, lang, open);
  if (!runs) return <LongText text={code} />;
  const covered = runs.reduce((n, r) => n + r.text.length, 0);
  return (
    <code>
      <Runs runs={runs} />
      {clean(code.slice(covered))}
    </code>
  );
}

const Runs = memo(function Runs({ runs }: { runs: readonly Run[] }): ReactNode {
  return runs.map((r, i) => (r.look ? <span key={i} className={r.look}>{clean(r.text)}</span> : clean(r.text)));
});

/** The code's runs with their colours: of a beginning of it while it streams, null as long as there are none. */
function useRuns(code: string, lang: string, open: boolean): Run[] | null {
  const language = code.length <= COLOURED ? languageOf(lang) : null;
  const [state, setState] = useState<{ code: string; language: string; runs: Run[] } | null>(() => {
    const run = language && !open ? ready(language) : undefined;
    return run && language ? { code, language, runs: run(code) } : null;
  });
  const last = useRef(0);
  useEffect(() => {
    if (!language || (state && state.code === code && state.language === language)) return;
    let gone = false;
    const wait = open ? Math.max(0, last.current + PACE - performance.now()) : 0;
    const timer = setTimeout(() => {
      load(language).then(
        (run) => {
          if (gone) return;
          last.current = performance.now();
          setState({ code, language, runs: run(code) });
        },
        () => undefined, // plain code is what is left, and it is there
      );
    }, wait);
    return () => {
      // While code streams, what was begun is finished, or nothing ever would be.
      if (!open) { gone = true; clearTimeout(timer); }
    };
  }, [code, language, open, state]);
  return state && state.language === language && code.startsWith(state.code) ? state.runs : null;
}

/** Copies text and says so, to the eye and to a screen reader. */
export function CopyButton({ text, label }: { text: string; label: string }): ReactNode {
  const [said, setSaid] = useState("");
  useEffect(() => {
    if (!said) return;
    const timer = setTimeout(() => setSaid(""), 2000);
    return () => clearTimeout(timer);
  }, [said]);
  return (
    <>
      <button type="button" className="code-button" onClick={() => void copy(text).then((ok) => setSaid(ok ? "Copied" : "Could not copy"))}>
        <Icon name={said === "Copied" ? "done" : "copy"} label={label} />
      </button>
      <span role="status" className={said ? "copied" : "visually-hidden"}>{said}</span>
    </>
  );
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelection(text);
  }
}

// Pages that came by plain HTTP from another machine have no clipboard of their own.
function copySelection(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  const focused = document.activeElement;
  document.body.append(area);
  area.select();
  const ok = document.execCommand("copy");
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return ok;
}
