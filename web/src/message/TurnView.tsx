import { memo, useMemo, useState, type ReactNode } from "react";
import type { Turn } from "../model";
import { PartView, partKey } from "./PartView";
import { SlotsContext, type Slots } from "./slots";
import { clean, count, head } from "./text";

type Props = { turn: Turn } & Slots;

/**
 * A turn: what a person said, or all that the agent answered. Give the same functions
 * at each render; a turn that is the same object is not drawn again.
 */
export const TurnView = memo(function TurnView({ turn, renderApproval, loadBlob }: Props): ReactNode {
  const slots = useMemo<Slots>(() => ({ renderApproval, loadBlob }), [renderApproval, loadBlob]);
  if (turn.role === "user") {
    return (
      <div className="turn turn-user">
        {turn.parts.map((p, i) => (p.type === "text" ? <Said key={partKey(p, i)} text={p.text} /> : <PartView key={partKey(p, i)} part={p} />))}
      </div>
    );
  }
  return (
    <SlotsContext value={slots}>
      <div className="turn turn-agent">{turn.parts.map((p, i) => <PartView key={partKey(p, i)} part={p} />)}</div>
    </SlotsContext>
  );
});

const LINES = 24;

// A person's words stand as they were typed; a pasted log does not push the answer away.
function Said({ text }: { text: string }): ReactNode {
  const [all, setAll] = useState(false);
  const cut = head(text, LINES, 6000);
  const long = cut.hidden > 3;
  return (
    <>
      <p className="said" dir="auto">{clean(long && !all ? cut.text + " …" : text)}</p>
      {long && <button type="button" className="more" onClick={() => setAll(!all)}>{all ? "Show less" : cut.hidden === Infinity ? "Show all" : `Show ${count(cut.hidden)} more lines`}</button>}
    </>
  );
}
