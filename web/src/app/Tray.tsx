import { useEffect, useState, type ReactNode } from "react";
import * as api from "../api";
import { PartView } from "../message";
import type { Part, PendingRequest } from "../model";
import { requests } from "../store/requests";
import { useSignal } from "../store/signal";
import { threads } from "../store/threads";
import { turnsOf } from "../store/turns";
import { Approval } from "./Approval";
import { go } from "./current";
import { UiIcon } from "./UiIcon";

/** What waits in other threads: it can be answered from here. */
export function Tray({ thread }: { thread: string }): ReactNode {
  const all = useSignal(requests).filter((r) => r.thread !== thread);
  const [open, setOpen] = useState(false);
  if (all.length === 0) return null;
  return (
    <section className="tray" aria-label="Approvals">
      <button type="button" className="tray-head" aria-expanded={open} onClick={() => setOpen(!open)}>
        <UiIcon name="ask" />
        <span>{all.length === 1 ? "1 other thread needs you" : `${all.length} questions in other threads`}</span>
        <span className="tray-more">{open ? "Hide" : "Review"}</span>
      </button>
      {open && <ul>{all.map((r) => <li key={r.id}><Waiting request={r} /></li>)}</ul>}
    </section>
  );
}

function Waiting({ request }: { request: PendingRequest }): ReactNode {
  const list = useSignal(threads.list).threads;
  const title = list.find((t) => t.id === request.thread)?.title || "Untitled";
  return (
    <Approval request={request}>
      <p className="soft">in <a href={"/t/" + encodeURIComponent(request.thread)} dir="auto" onClick={(e) => { e.preventDefault(); go(request.thread); }}>{title}</a></p>
      <Asked request={request} />
    </Approval>
  );
}

/** The call that is asked about: its command, change or path. */
function Asked({ request }: { request: PendingRequest }): ReactNode {
  const [part, setPart] = useState<Part>();
  useEffect(() => {
    let gone = false;
    if (request.toolCallId) {
      api.messages(request.thread, 30, "").then(({ messages }) => {
        const parts = turnsOf(messages, undefined, [request]).flatMap((t) => t.parts);
        const call = parts.find((p) => p.type === "call" && p.call.id === request.toolCallId);
        if (!gone && call?.type === "call") setPart({ type: "call", call: call.call });
      }, () => undefined);
    }
    return () => {
      gone = true;
    };
  }, [request]);
  return part ? <PartView part={part} /> : null;
}
