import { ResumableHttpAgent } from "@agentstream/client";
import { AssistantRuntimeProvider, ComposerPrimitive, MessagePrimitive, ThreadPrimitive, useAuiState, type ReasoningMessagePartProps, type ToolCallMessagePartProps } from "@assistant-ui/react";
import { useAgUiRuntime } from "@assistant-ui/react-ag-ui";
import { useEffect, useMemo, useState } from "react";

/** The runtime of assistant-ui on an agent that loses nothing: README.md of the client shows these lines. */
export function useResumableRuntime(agent: ResumableHttpAgent) {
  const [loaded, setLoaded] = useState(false);
  const history = useMemo(() => ({
    load: async () => {
      const thread = await fetch(`${agent.base}/v1/threads/${encodeURIComponent(agent.threadId)}`, { headers: agent.headers });
      agent.attachNext = thread.ok; // then the run that loading begins joins what there is
      setLoaded(true);
      return { messages: [], unstable_resume: thread.ok };
    },
    append: async () => undefined,
  }), [agent]);
  const runtime = useAgUiRuntime({ agent, adapters: { history } });
  useEffect(() => agent.watch(undefined, () => {
    const { isRunning, isLoading, messages } = runtime.thread.getState();
    if (isRunning || isLoading) return;
    agent.attachNext = true;
    const waiting = runtime.unstable_getPendingInterrupts();
    if (waiting.length === 0) runtime.thread.resumeRun({ parentId: messages.at(-1)?.id ?? null });
    // Attaching posts nothing: this only takes the question down, and what still waits is asked again.
    else return runtime.unstable_submitInterruptResponses(waiting.map((i) => ({ interruptId: i.id, status: "cancelled" })));
  }), [agent, runtime]);
  return { runtime, loaded };
}

function Reasoning({ text }: ReasoningMessagePartProps) {
  return <p className="thought">{text}</p>;
}

function Call({ toolName, argsText, result, approval, respondToApproval }: ToolCallMessagePartProps) {
  return (
    <div className="call">
      <b>{toolName}</b> <code>{argsText}</code>
      {approval && approval.approved === undefined && (
        <p>
          <button onClick={() => void respondToApproval({ approved: true })}>Allow</button>
          <button onClick={() => void respondToApproval({ approved: false })}>Deny</button>
        </p>
      )}
      {result !== undefined && <pre>{typeof result === "string" ? result : JSON.stringify(result)}</pre>}
    </div>
  );
}

const Question = () => <MessagePrimitive.Root className="question"><MessagePrimitive.Parts /></MessagePrimitive.Root>;
const Answer = () => (
  <MessagePrimitive.Root className="answer">
    <MessagePrimitive.Parts components={{ Reasoning, tools: { Fallback: Call } }} />
  </MessagePrimitive.Root>
);

/** A message that is sent while the thread is being joined would be a second run beside that one. */
function SendOrStop({ loaded }: { loaded: boolean }) {
  const loading = useAuiState((s) => s.thread.isLoading);
  return (
    <>
      {loaded && !loading && <ThreadPrimitive.If running={false}><ComposerPrimitive.Send>Send</ComposerPrimitive.Send></ThreadPrimitive.If>}
      <ThreadPrimitive.If running><ComposerPrimitive.Cancel>Stop</ComposerPrimitive.Cancel></ThreadPrimitive.If>
    </>
  );
}

export function App({ agent }: { agent: ResumableHttpAgent }) {
  const { runtime, loaded } = useResumableRuntime(agent);
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <ThreadPrimitive.Root>
        <ThreadPrimitive.Viewport>
          <ThreadPrimitive.Messages components={{ UserMessage: Question, AssistantMessage: Answer }} />
        </ThreadPrimitive.Viewport>
        <ComposerPrimitive.Root>
          <ComposerPrimitive.Input placeholder="Message" />
          <SendOrStop loaded={loaded} />
        </ComposerPrimitive.Root>
      </ThreadPrimitive.Root>
    </AssistantRuntimeProvider>
  );
}
