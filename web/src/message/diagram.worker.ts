// Draws diagrams away from the page: whatever the text is, it can hold up nothing and reach nothing.
import { renderMermaid } from "beautiful-mermaid";

export type Order = { id: number; code: string; fg: string; bg: string };
export type Drawing = { id: number; svg: string | null };

addEventListener("message", (e: MessageEvent<Order>) => {
  const { id, code, fg, bg } = e.data;
  const mix = (part: number) => `color-mix(in srgb, ${fg} ${part}%, ${bg})`;
  renderMermaid(code, { fg, bg, muted: fg, line: mix(60), accent: mix(70), border: mix(45), font: "system-ui", transparent: true, padding: 8 }).then(
    // The sheet asks for a font from elsewhere, which a picture is not given anyway.
    (svg) => postMessage({ id, svg: svg.replace(/^\s*@import.*$/gm, "") } satisfies Drawing),
    () => postMessage({ id, svg: null } satisfies Drawing),
  );
});
