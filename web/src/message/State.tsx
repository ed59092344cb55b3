import type { ReactNode } from "react";
import type { CallState } from "../model";
import { Icon } from "./icons";
import { duration } from "./text";
import { useNow } from "./time";

const words: Record<CallState, string> = {
  queued: "Queued",
  running: "Running",
  done: "Done",
  failed: "Failed",
  cancelled: "Cancelled",
  interrupted: "Interrupted",
};

const reasons: Partial<Record<CallState, string>> = {
  cancelled: "Stopped on request: it did not fail.",
  interrupted: "It was cut off and has no result: it did not fail, and may have done part of its work.",
};

type Props = { state: CallState; waiting?: boolean; startedAt?: number; endedAt?: number };

/** The state of a call by sign, word and colour, and how long it took or has been running. */
export function StateMark({ state, waiting = false, startedAt, endedAt }: Props): ReactNode {
  const running = state === "running" && !waiting;
  const now = useNow(running && startedAt !== undefined);
  const end = running ? now : endedAt;
  const took = startedAt !== undefined && end !== undefined ? end - startedAt : undefined;
  // What was over at once needs no time beside it.
  const time = took !== undefined && took >= (running ? 1000 : 500) ? (running ? duration(Math.floor(took / 1000) * 1000).replace(".0", "") : duration(took)) : "";
  if (waiting) return <span className="state state-waiting"><Icon name="warning" />Needs you</span>;
  const quiet = state === "done";
  return (
    <span className={`state state-${state}`} title={reasons[state]}>
      {time && <span className="state-time">{time}</span>}
      <Icon name={state} label={quiet ? words[state] : undefined} />
      {!quiet && <span>{words[state]}</span>}
    </span>
  );
}
