import { ResumableHttpAgent } from "@agentstream/client";
import { AssistantRuntimeProvider, ComposerPrimitive, MessagePrimitive, ThreadPrimitive, type ReasoningMessagePartProps, type ToolCallMessagePartProps } from "@assistant-ui/react";
import { useAgUiRuntime } from "@assistant-ui/react-ag-ui";
import { useEffect, useMemo } from "react";

/** The runtime of assistant-ui on an agent that loses nothing: README.md of the client shows these lines. */
export function useResumableRuntime(agent: ResumableHttpAgent) {
  const history = useMemo(() => ({
    load: async () => {
      agent.attachNext = true; // the run that loading begins joins what there is
      return { messages: [], unstable_resume: true };
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
  return runtime;
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

export function App({ agent }: { agent: ResumableHttpAgent }) {
  return (
    <AssistantRuntimeProvider runtime={useResumableRuntime(agent)}>
      <ThreadPrimitive.Root>
        <ThreadPrimitive.Viewport>
          <ThreadPrimitive.Messages components={{ UserMessage: Question, AssistantMessage: Answer }} />
        </ThreadPrimitive.Viewport>
        <ComposerPrimitive.Root>
          <ComposerPrimitive.Input placeholder="Message" />
          <ThreadPrimitive.If running={false}><ComposerPrimitive.Send>Send</ComposerPrimitive.Send></ThreadPrimitive.If>
          <ThreadPrimitive.If running><ComposerPrimitive.Cancel>Stop</ComposerPrimitive.Cancel></ThreadPrimitive.If>
        </ComposerPrimitive.Root>
      </ThreadPrimitive.Root>
    </AssistantRuntimeProvider>
  );
}
