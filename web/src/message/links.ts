// What an agent's text may make a browser do: follow a link that somebody clicks, show a picture that is there.

/** href if a browser may be sent there: an absolute address of the web or of mail. */
export function safeLink(href: string): string | null {
  const text = href.trim();
  if (!/^(?:https?:\/\/|mailto:)/i.test(text)) return null;
  try {
    return new URL(text).href;
  } catch {
    return null;
  }
}

/** src if it can be shown without asking anybody else: inline data, or a blob of this server. */
export function safeImage(src: string): string | null {
  const text = src.trim();
  if (/^data:image\/(?:png|jpeg|gif|webp|avif|bmp|svg\+xml)[;,]/i.test(text) || text.startsWith("blob:")) return text;
  return /^\/v1\/blobs\/[0-9a-f]{64}$/.test(text) ? text : null;
}
