/** Numbers that are the same at each run, unless AGENTSTREAM_SEED says otherwise. */
export function random(): (below: number) => number {
  let s = Number(process.env.AGENTSTREAM_SEED ?? 20260917) >>> 0;
  return (below) => {
    s = (Math.imul(s, 1664525) + 1013904223) >>> 0;
    return Math.floor((s / 2 ** 32) * below);
  };
}
