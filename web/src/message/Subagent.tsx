import { memo, type ReactNode } from "react";
import type { CallState, Part } from "../model";
import { Fold } from "./Fold";
import { Icon } from "./icons";
import { PartView, partKey } from "./PartView";
import { StateMark } from "./State";
import { clean } from "./text";

/** What another agent says on this one's behalf. */
export const Subagent = memo(function Subagent({ name, state, parts }: { name: string; state: CallState; parts: readonly Part[] }): ReactNode {
  const head = (
    <>
      <Icon name="agent" label="Sub-agent:" />
      <bdi className="card-title">{clean(name)}</bdi>
      <StateMark state={state} />
    </>
  );
  return (
    <Fold className={`card subagent card-is-${state}`} head={head} open={state !== "done"} empty={parts.length === 0}>
      {() => <div className="nested">{parts.map((p, i) => <PartView key={partKey(p, i)} part={p} />)}</div>}
    </Fold>
  );
});
