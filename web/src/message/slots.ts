import { createContext, type ReactNode } from "react";
import type { BlobRef, PendingRequest } from "../model";

/** What the surroundings give to the parts of a turn. Keep the object the same while nothing changes: it re-renders every card. */
export type Slots = {
  /** The card that answers a request, shown inside its tool call. */
  renderApproval?: (request: PendingRequest) => ReactNode;
  /** The full text of a blob; rejects with an error whose message can be shown. */
  loadBlob?: (blob: BlobRef, signal: AbortSignal) => Promise<string>;
};

export const SlotsContext = createContext<Slots>({});

/** The full text behind a preview, from this server. */
export async function fetchBlob(blob: BlobRef, signal: AbortSignal): Promise<string> {
  const answer = await fetch(`/v1/blobs/${encodeURIComponent(blob.sha256)}`, { signal });
  if (!answer.ok) throw new Error(answer.status === 404 ? "The server no longer has the full text." : `The server answered ${answer.status}.`);
  return answer.text();
}
