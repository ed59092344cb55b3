import { memo, useMemo, useState, type ReactNode } from "react";
import type { FileDiff } from "../model";
import { diffOf, type Hunk, type Row } from "./diff";
import { Icon } from "./icons";
import { clean, count } from "./text";

/** Rows that are drawn before somebody asks for more. */
const ROWS = 400;

/** The change of one file, as a unified diff with the changed words marked. */
export const DiffView = memo(function DiffView({ diff }: { diff: FileDiff }): ReactNode {
  const { hunks, added, removed } = diffOf(diff);
  const [all, setAll] = useState(false);
  const { shown, hidden } = useMemo(() => (all ? { shown: hunks, hidden: 0 } : cut(hunks)), [hunks, all]);
  const width = useMemo(() => String(Math.max(1, ...hunks.map((h) => h.rows.at(-1)!).map((r) => Math.max(r.old, r.new)))).length, [hunks]);
  const path = clean(diff.path);
  const isNew = diff.oldText === undefined || diff.oldText === "";
  return (
    <div role="group" className="diff" aria-label={`Change of ${path}`}>
      <div className="diff-head">
        <span className="diff-path" title={path}><bdi dir="ltr">{path}</bdi></span>
        {isNew && <span className="tag">new</span>}
        {!isNew && diff.newText === "" && <span className="tag">emptied</span>}
        <DiffCount added={added} removed={removed} />
      </div>
      {hunks.length === 0 || (added === 0 && removed === 0) ? (
        <p className="diff-none">{diff.oldText === diff.newText ? "No change" : "Only line ends change"}</p>
      ) : (
        <div className="diff-body" tabIndex={0} role="group" aria-label={`Lines of ${path}`} dir="ltr" style={{ "--digits": width } as React.CSSProperties}>
          <div className="diff-rows">
            {shown.map((h) => <HunkView key={`${h.kind}${h.rows[0]!.old}-${h.rows[0]!.new}`} hunk={h} />)}
          </div>
        </div>
      )}
      {hidden > 0 && (
        <button type="button" className="more" onClick={() => setAll(true)}>Show {count(hidden)} more {hidden === 1 ? "line" : "lines"}</button>
      )}
    </div>
  );
});

/** +3 −1, and the same in words. */
export function DiffCount({ added, removed }: { added: number; removed: number }): ReactNode {
  return (
    <span className="diff-count">
      {added > 0 && <span className="come"><span aria-hidden="true">+{count(added)}</span><span className="visually-hidden">{count(added)} added</span></span>}
      {removed > 0 && <span className="gone"><span aria-hidden="true">−{count(removed)}</span><span className="visually-hidden">{count(removed)} removed</span></span>}
    </span>
  );
}

function cut(hunks: Hunk[]): { shown: Hunk[]; hidden: number } {
  const shown: Hunk[] = [];
  let left = ROWS;
  let hidden = 0;
  for (const h of hunks) {
    const cost = h.kind === "fold" ? 1 : h.rows.length;
    if (left <= 0) hidden += h.rows.length;
    else if (cost <= left) shown.push(h);
    else {
      shown.push({ kind: h.kind, rows: h.rows.slice(0, left) });
      hidden += h.rows.length - left;
    }
    left -= cost;
  }
  return { shown, hidden };
}

const HunkView = memo(function HunkView({ hunk }: { hunk: Hunk }): ReactNode {
  const [open, setOpen] = useState(false);
  if (hunk.kind === "fold" && !open) {
    return (
      <button type="button" className="diff-fold" onClick={() => setOpen(true)}>
        <Icon name="chevron" />
        {count(hunk.rows.length)} unchanged lines
      </button>
    );
  }
  const groups: Row[][] = [];
  for (let i = 0; i < hunk.rows.length; i += 100) groups.push(hunk.rows.slice(i, i + 100));
  return groups.map((rows, i) => <div key={i} className="diff-group">{rows.map((r) => <RowView key={`${r.old}-${r.new}`} row={r} />)}</div>);
});

const signs = { same: " ", gone: "−", come: "+" } as const;
const said = { same: "", gone: "removed: ", come: "added: " } as const;

function RowView({ row }: { row: Row }): ReactNode {
  return (
    <div className={`diff-row ${row.kind}`}>
      <span className="diff-no" aria-hidden="true">{row.old || ""}</span>
      <span className="diff-no" aria-hidden="true">{row.new || ""}</span>
      <span className="diff-sign" aria-hidden="true">{signs[row.kind]}</span>
      {row.kind !== "same" && <span className="visually-hidden">{said[row.kind]}</span>}
      <code>
        {row.spans.map((s, i) => (s.changed ? <span key={i} className="diff-mark">{clean(s.text)}</span> : clean(s.text)))}
        {"\n"}
      </code>
    </div>
  );
}
