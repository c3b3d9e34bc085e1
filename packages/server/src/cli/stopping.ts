import type { Runtime } from "./runtime.ts";

/** Is aborted, with the name of the signal, once the process is asked to stop; that the terminal was closed asks for it too. */
export function stopSignal({ untilAskedToStop }: Runtime): AbortSignal {
  const controller = new AbortController();
  void untilAskedToStop({ hangUp: true }).then((name) => controller.abort(name));
  return controller.signal;
}

/** The pieces, and an error once the signal comes, also where the next piece keeps everybody waiting. */
export async function* untilStopped<Piece>(
  pieces: AsyncIterable<Piece>,
  signal: AbortSignal,
): AsyncGenerator<Piece, void> {
  const stopped = new Promise<never>((_, reject) => {
    const stop = () => reject(new Error(`stopped by ${String(signal.reason)}`));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
  // It may come while nobody waits for a piece.
  stopped.catch(() => {});
  const iterator = pieces[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await Promise.race([stopped, iterator.next()]);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    // Not waited for: it ends after the piece that keeps it waiting.
    void Promise.resolve(iterator.return?.()).catch(() => {});
  }
}
