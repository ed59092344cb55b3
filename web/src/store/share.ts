/** Gives `next` with every part that equals its counterpart in `before` replaced by it, so that what did not change is the same object. */
export function share<T>(before: unknown, next: T): T {
  if (Object.is(before, next)) return next;
  if (Array.isArray(before) && Array.isArray(next)) {
    const byId = ids(before);
    const out = next.map((item, i) => share((byId && byId.get(idOf(item))) ?? before[i], item));
    return (out.length === before.length && out.every((item, i) => item === before[i]) ? before : out) as T;
  }
  if (plain(before) && plain(next)) {
    const keys = Object.keys(next);
    let same = keys.length === Object.keys(before).length;
    const out: Record<string, unknown> = {};
    for (const key of keys) {
      out[key] = share(before[key], next[key]);
      same &&= Object.is(out[key], before[key]) && key in before;
    }
    return (same ? before : out) as T;
  }
  return next;
}

function ids(list: unknown[]): Map<unknown, unknown> | undefined {
  return list.length > 0 && idOf(list[0]) !== undefined ? new Map(list.map((item) => [idOf(item), item])) : undefined;
}

const idOf = (item: unknown): unknown => (plain(item) ? item.id : undefined);

function plain(v: unknown): v is Record<string, unknown> {
  return typeof v === "object" && v !== null && !Array.isArray(v);
}
