/** The server and the thread, which the part of the address behind # names. */
export function where() {
  const at = new URLSearchParams(location.hash.slice(1));
  return { base: at.get("base")!, headers: { Authorization: `Bearer ${at.get("token")}` }, threadId: at.get("thread")! };
}
