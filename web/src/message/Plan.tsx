import { memo, type ReactNode } from "react";
import type { PlanEntry } from "../model";
import { Icon } from "./icons";
import { clean } from "./text";

const signs = { pending: "circle", in_progress: "half", completed: "tick" } as const;
const words = { pending: "to do:", in_progress: "in progress:", completed: "done:" } as const;

/** The agent's plan as a checklist. */
export const Plan = memo(function Plan({ entries }: { entries: readonly PlanEntry[] }): ReactNode {
  const done = entries.filter((e) => e.status === "completed").length;
  return (
    <div role="group" className="plan" aria-label="Plan">
      <div className="plan-head">
        <span>Plan</span>
        <progress max={Math.max(1, entries.length)} value={done} aria-label="Progress of the plan" />
        <span className="soft">{done} of {entries.length}</span>
      </div>
      <ol>
        {entries.map((e, i) => (
          <li key={i} className={`plan-${e.status}`}>
            <Icon name={signs[e.status] ?? "circle"} label={words[e.status] ?? "to do:"} />
            <span dir="auto">{clean(e.content)}</span>
            {e.priority === "high" && e.status !== "completed" && <span className="tag">high</span>}
          </li>
        ))}
      </ol>
    </div>
  );
});
