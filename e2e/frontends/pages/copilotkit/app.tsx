import { ResumableHttpAgent } from "@agentstream/client";
import { CopilotKitContext, CopilotKitCoreReact, EMPTY_SET } from "@copilotkit/react-core/v2/context";
import { useAgent, useCopilotKit, useInterrupt } from "@copilotkit/react-core/v2/headless";
import { useEffect, useState, type FormEvent } from "react";

function Chat({ threadId }: { threadId: string }) {
  const { agent } = useAgent({ agentId: "demo" });
  const { copilotkit } = useCopilotKit();
  const [text, setText] = useState("");
  const [joined, setJoined] = useState("");

  useEffect(() => {
    agent.threadId = threadId;
    agent.setMessages([]);
    void copilotkit.connectAgent({ agent }).finally(() => setJoined(threadId)); // what is typed before would be swept away
    return agent instanceof ResumableHttpAgent ? agent.watch() : undefined;
  }, [agent, threadId, copilotkit]);

  const card = useInterrupt({
    agentId: "demo", renderInChat: false,
    render: ({ interrupts, resolve, cancel }) => (
      <div className="card">
        {interrupts.map((i) => (
          <p key={i.id}>
            {i.message} <button onClick={() => void resolve({ approved: true }, i.id)}>Allow</button>
            <button onClick={() => void cancel(i.id)}>Deny</button>
          </p>
        ))}
      </div>
    ),
  });

  const send = (e: FormEvent) => {
    e.preventDefault();
    agent.addMessage({ id: crypto.randomUUID(), role: "user", content: text });
    setText("");
    void copilotkit.runAgent({ agent });
  };
  return (
    <>
      {agent.messages.map((m) => (
        <div key={m.id} className={m.role}>
          {typeof m.content === "string" && <p>{m.content}</p>}
          {m.role === "assistant" && m.toolCalls?.map((c) => <p key={c.id} className="call"><b>{c.function.name}</b> <code>{c.function.arguments}</code></p>)}
        </div>
      ))}
      {card}
      <form onSubmit={send}>
        <textarea placeholder="Message" value={text} onChange={(e) => setText(e.target.value)} />
        {agent.isRunning ? <button type="button" onClick={() => copilotkit.stopAgent({ agent })}>Stop</button> : joined === threadId && <button>Send</button>}
      </form>
    </>
  );
}

/** CopilotKit's own hooks, without its components. */
export function App({ core, threadId }: { core: CopilotKitCoreReact; threadId: string }) {
  // The hooks miss a runtime that answers before they have subscribed.
  const [known, setKnown] = useState(false);
  useEffect(() => {
    const look = () => setKnown(core.agents.demo !== undefined);
    const { unsubscribe } = core.subscribe({ onRuntimeConnectionStatusChanged: look });
    look();
    return unsubscribe;
  }, [core]);
  return (
    <CopilotKitContext.Provider value={{ copilotkit: core, executingToolCallIds: EMPTY_SET as Set<string> }}>
      {known && <Chat threadId={threadId} />}
    </CopilotKitContext.Provider>
  );
}
