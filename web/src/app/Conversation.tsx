import { AssistantRuntimeProvider, MessagePrimitive, ThreadPrimitive, useAuiState, useExternalStoreRuntime, type ThreadMessageLike } from "@assistant-ui/react";
import { memo, useMemo, type ReactNode } from "react";
import { CopyButton, TurnView } from "../message";
import { fetchBlob } from "../message/slots";
import type { Part, PendingRequest, Turn } from "../model";
import { useSignal } from "../store/signal";
import type { OpenThread, ThreadState } from "../store/thread";
import { Approval } from "./Approval";
import { editing } from "./Composer";
import { Spoken } from "./Spoken";
import { complain } from "./toast";
import { IconButton, UiIcon } from "./UiIcon";
import { useScroll } from "./useScroll";

/** What assistant-ui holds of a turn: its own form has no sub-agents, diffs or terminals, so the turn goes along whole. */
const convert = (turn: Turn): ThreadMessageLike => ({ id: turn.id, role: turn.role, content: [{ type: "text", text: "" }], metadata: { custom: { turn } } });

export function Conversation({ open }: { open: OpenThread }): ReactNode {
  const state = useSignal(open.state);
  const runtime = useExternalStoreRuntime<Turn>({
    messages: state.turns,
    convertMessage: convert,
    isRunning: state.run !== undefined || state.starting,
    onNew: async () => undefined, // the composer talks to the store: its queue is the server's
    onCancel: () => open.stop(),
  });
  const scroll = useScroll(open, state);
  const loose = state.pending.filter((r) => !inCalls(state.turns, r));
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <ThreadPrimitive.Root className="conversation">
        <div ref={scroll.box} className="log" role="log" aria-label="Conversation" aria-live="off" tabIndex={0} onScroll={scroll.onScroll} data-phase={state.phase}>
          <div ref={scroll.content} className="column">
            <Top open={open} state={state} />
            <ThreadPrimitive.Messages components={messages} />
            {loose.map((r) => <div className="turn-row" key={r.id}><Approval request={r} /></div>)}
            <Bottom open={open} state={state} />
          </div>
        </div>
        {scroll.away && (
          <button type="button" className="button to-latest" onClick={scroll.toLatest}><UiIcon name="down" />Latest</button>
        )}
        <Spoken state={state} />
      </ThreadPrimitive.Root>
    </AssistantRuntimeProvider>
  );
}

const approval = (r: PendingRequest): ReactNode => <Approval request={r} />;

const Row = memo(function Row({ turn }: { turn: Turn }): ReactNode {
  const words = useMemo(() => textOf(turn.parts), [turn]);
  const streaming = turn.parts.some((p) => p.type === "text" && p.streaming);
  return (
    <div className={"turn-row turn-row-" + turn.role} data-turn={turn.id} role="group" aria-label={turn.role === "user" ? "You" : "Agent"}>
      <TurnView turn={turn} renderApproval={approval} loadBlob={fetchBlob} />
      {words && !streaming && (
        <div className="turn-actions">
          {turn.role === "user" && <EditButton words={words} />}
          <CopyButton text={words} label={turn.role === "user" ? "Copy message" : "Copy answer"} />
        </div>
      )}
    </div>
  );
});

function EditButton({ words }: { words: string }): ReactNode {
  return <IconButton icon="pencil" label="Edit message" onClick={() => editing.set({ thread: decodeURIComponent(location.pathname.slice(3)), text: words })} />;
}

function Message(): ReactNode {
  const turn = useAuiState((s) => s.message.metadata.custom.turn as Turn | undefined);
  if (!turn) return null; // a place that assistant-ui keeps for an answer that has not begun
  return <MessagePrimitive.Root><Row turn={turn} /></MessagePrimitive.Root>;
}

const messages = { UserMessage: Message, AssistantMessage: Message };

function Top({ open, state }: { open: OpenThread; state: ThreadState }): ReactNode {
  if (state.phase === "loading") return <div className="skeleton" role="status" aria-label="Loading the conversation"><span /><span /><span /></div>;
  if (state.loadingOlder) return <p className="soft center" role="status">Loading earlier messages</p>;
  if (state.hasOlder) return <button type="button" className="button center" onClick={() => void open.loadOlder()}>Show earlier messages</button>;
  if (state.turns.length === 0 && !state.starting) return <p className="soft center">Nothing has been said here yet.</p>;
  return null;
}

function Bottom({ open, state }: { open: OpenThread; state: ThreadState }): ReactNode {
  const running = state.run !== undefined || state.starting;
  if (running) {
    const last = state.turns.at(-1)?.parts.at(-1);
    const quiet = !last || (last.type !== "text" && last.type !== "thought") || !last.streaming;
    if (state.silence >= 15) return <p className="working soft"><span className="pulse" />Nothing came from the agent for {state.silence} s</p>;
    return quiet ? <p className="working soft"><span className="pulse" />Working</p> : null;
  }
  if (!state.failedRun) return null;
  return (
    <p className="turn-row retry"><button type="button" className="button" onClick={() => void open.retry().catch(complain)}><UiIcon name="retry" />Try again</button></p>
  );
}

function inCalls(turns: readonly Turn[], r: PendingRequest): boolean {
  const within = (parts: readonly Part[]): boolean =>
    parts.some((p) => (p.type === "call" && (p.call.request?.id === r.id || within(p.children ?? []))) || (p.type === "subagent" && within(p.children)));
  return turns.some((t) => within(t.parts));
}

function textOf(parts: readonly Part[]): string {
  return parts.filter((p) => p.type === "text").map((p) => p.text).join("\n\n");
}
