import type { ReactNode } from "react";
import { TurnView, UsageBar } from "../message";
import type { Part, PendingRequest } from "../model";
import { contexts, kinds, large, markdown, nested, small, states, turns } from "./data";

const approval = (r: PendingRequest): ReactNode => (
  <div role="group" aria-label={r.title}>
    {r.title} {r.options.map((o) => <button key={o.optionId} type="button" className="answer">{o.name}</button>)}
  </div>
);

const loadBlob = async (): Promise<string> => "the whole of it\n".repeat(300_000);

function Agent({ id, parts }: { id: string; parts: Part[] }): ReactNode {
  return <TurnView turn={{ id, role: "assistant", parts }} renderApproval={approval} loadBlob={loadBlob} />;
}

const text = (id: string, value: string, streaming = false): Part => ({ type: "text", id, text: value, streaming });
const now = Date.now();
const running = states(now);

export function Gallery(): ReactNode {
  return (
    <main className="gallery">
      <h1>How messages look</h1>
      <h2>People</h2>
      {turns.map((t) => <TurnView key={t.id} turn={t} />)}
      <h2>Markdown</h2>
      <Agent id="md" parts={[text("md", markdown)]} />
      <h2>Markdown that streams</h2>
      <Agent id="half" parts={[text("h1", "A **half bold", true), text("h2", "See [the lin", true), text("h3", "| a | b", true), text("h4", "```ts\nconst x: number = 1;\nconst y", true)]} />
      <h2>Calls by kind</h2>
      <Agent id="kinds" parts={kinds} />
      <h2>Calls by state</h2>
      <Agent id="states" parts={running} />
      <h2>Large results</h2>
      <Agent id="large" parts={large} />
      <h2>Sub-agents</h2>
      <Agent id="nested" parts={nested} />
      <h2>Thoughts, plans, notices, errors, media</h2>
      <Agent id="small" parts={small} />
      <h2>Context window</h2>
      {contexts.map((c, i) => <div key={i}><UsageBar context={c} /></div>)}
    </main>
  );
}
