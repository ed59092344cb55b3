import { useEffect, useId, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import type { Answer } from "../api";
import type { PendingRequest, RequestOption } from "../model";
import { answer } from "../store/requests";
import { RequestForm } from "./RequestForm";
import { complain, tell } from "./toast";
import { UiIcon } from "./UiIcon";

type Props = { request: PendingRequest; onAnswer?: (a: Answer) => Promise<void>; children?: ReactNode };

const yesNo: (RequestOption & { answer: Answer })[] = [
  { optionId: "yes", name: "Allow", kind: "allow_once", answer: { approved: true } },
  { optionId: "no", name: "Refuse", kind: "reject_once", answer: { approved: false } },
];

/**
 * A question of an agent and its answers. With the focus inside, the digit of an option
 * chooses it. It goes away when the request does, whoever answered.
 */
export function Approval({ request, onAnswer, children }: Props): ReactNode {
  const [busy, setBusy] = useState(false);
  const alive = useRef(true);
  const title = useId();
  useEffect(() => {
    alive.current = true;
    return () => {
      alive.current = false;
    };
  }, []);
  const options = request.options.length > 0 ? request.options.map((o) => ({ ...o, answer: { optionId: o.optionId } as Answer })) : yesNo;
  const choose = async (a: Answer) => {
    if (busy) return;
    setBusy(true);
    try {
      await (onAnswer ?? ((with_) => answer(request, with_)))(a);
    } catch (e) {
      if (e instanceof Error && e.message === "This was answered elsewhere.") tell(e.message);
      else complain(e);
    }
    if (alive.current) setBusy(false);
  };
  const onKeyDown = (e: KeyboardEvent) => {
    if (request.schema || e.ctrlKey || e.metaKey || e.altKey || (e.target as HTMLElement).closest("input, textarea, select")) return;
    const option = /^[1-9]$/.test(e.key) ? options[Number(e.key) - 1] : undefined;
    if (!option) return;
    e.preventDefault();
    void choose(option.answer);
  };
  return (
    <section className="approval" role="group" aria-labelledby={title} data-request={request.id} tabIndex={-1} onKeyDown={onKeyDown}>
      <p className="approval-title" id={title}>
        <UiIcon name="ask" />
        <span><strong>Needs your answer:</strong> <span dir="auto">{request.title || "The agent asks for permission"}</span></span>
      </p>
      {children}
      {request.schema ? (
        <RequestForm schema={request.schema} busy={busy} onSend={(content) => void choose({ content })} onRefuse={() => void choose({ approved: false })} />
      ) : (
        <div className="approval-options">
          {options.map((o, i) => (
            <button key={o.optionId} type="button" className={"button" + (o.kind === "allow_once" ? " button-main" : "")} disabled={busy} onClick={() => void choose(o.answer)}>
              {i < 9 && <kbd aria-hidden="true">{i + 1}</kbd>}
              {o.name || o.optionId}
            </button>
          ))}
        </div>
      )}
    </section>
  );
}
