import type { ContentPart } from "../api";

/** A file that goes with the next message. */
export type Attachment = { id: number; name: string; part: ContentPart; preview?: string };

/** The server takes 32 MiB in all; base64 makes a third more of a file. */
const most = 20 << 20;
let count = 0;

/** Reads a file as an AG-UI content part; throws what a person can read. */
export async function attach(file: File): Promise<Attachment> {
  if (file.size > most) throw new Error(`${file.name} is larger than 20 MB.`);
  const url = await new Promise<string>((done, fail) => {
    const reader = new FileReader();
    reader.onload = () => done(String(reader.result));
    reader.onerror = () => fail(new Error(`${file.name} could not be read.`));
    reader.readAsDataURL(file);
  });
  const value = url.slice(url.indexOf(",") + 1);
  const mimeType = file.type || (looksLikeText(value) ? "text/plain" : "application/octet-stream");
  const type = mimeType.startsWith("image/") ? "image" : mimeType.startsWith("audio/") ? "audio" : "document";
  const name = file.name || "pasted";
  return {
    id: ++count, name,
    part: { type, source: { type: "data", value, mimeType }, metadata: { name } } as ContentPart,
    ...(/^image\/(png|jpeg|gif|webp)$/.test(mimeType) ? { preview: `data:${mimeType};base64,${value}` } : {}),
  };
}

/** Source files have types that browsers do not know. */
function looksLikeText(base64: string): boolean {
  return !atob(base64.slice(0, 4096)).includes("\0");
}

/** What is sent: plain text alone, or its parts. */
export function contentOf(text: string, attachments: readonly Attachment[]): string | ContentPart[] {
  if (attachments.length === 0) return text;
  return [...(text ? [{ type: "text", text }] : []), ...attachments.map((a) => a.part)];
}
