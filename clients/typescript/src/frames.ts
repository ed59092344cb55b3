/** One event of a server-sent stream. `id` is the cursor; made-up events have none. */
export interface Frame {
  id: string;
  data: string;
}

/**
 * Reads frames from a byte stream. It cuts on bytes and decodes whole frames only,
 * so that a cut inside a character or a frame delivers nothing of it. Throws when
 * nothing, not even a heartbeat, came for `idle` milliseconds.
 */
export async function* frames(body: ReadableStream<Uint8Array>, idle: number): AsyncGenerator<Frame> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = new Uint8Array(0);
  try {
    for (;;) {
      const { done, value } = await within(reader.read(), idle);
      if (done) return;
      const bytes = new Uint8Array(rest.length + value.length);
      bytes.set(rest);
      bytes.set(value, rest.length);
      let from = 0;
      // The end of a frame may lie across two reads, but not before the last byte of the first.
      for (let i = Math.max(1, rest.length); i < bytes.length; i++) {
        if (bytes[i] === 10 && bytes[i - 1] === 10 && i > from) {
          const frame = parse(decoder.decode(bytes.subarray(from, i)));
          if (frame) yield frame;
          from = i + 1;
        }
      }
      rest = bytes.slice(from);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function parse(block: string): Frame | undefined {
  let id = "";
  let data: string | undefined;
  for (const line of block.split("\n")) {
    if (line.startsWith("id:")) id = line.slice(3).trim();
    else if (line.startsWith("data:")) data = (data === undefined ? "" : data + "\n") + line.slice(line[5] === " " ? 6 : 5);
  }
  return data === undefined ? undefined : { id, data };
}

async function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, no) => {
    timer = setTimeout(() => no(new Error(`nothing came for ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
