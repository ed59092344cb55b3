/** How long ago, in the fewest letters: now, 5 min, 3 h, 2 d, then the date. Times are milliseconds. */
export function ago(at: number, now: number): string {
  const minutes = Math.floor((now - at) / 60_000);
  if (!(minutes >= 1)) return "now";
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h`;
  if (minutes < 14 * 24 * 60) return `${Math.floor(minutes / (24 * 60))} d`;
  return new Date(at).toISOString().slice(0, 10);
}
