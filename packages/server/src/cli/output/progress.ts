import type { Runtime } from "../runtime.ts";

/** One line on a terminal that is written over and over; nothing where nobody watches. */
export class ProgressLine {
  readonly #runtime: Runtime;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  show(text: string): void {
    if (this.#runtime.isTerminal) this.#runtime.stderr(`\r\u001b[K${text}`);
  }

  end(): void {
    this.show("");
  }
}

/** Is aborted, with the name of the signal, once the process is asked to stop; that the terminal was closed asks for it too. */
export function stopSignal({ untilAskedToStop }: Runtime): AbortSignal {
  const controller = new AbortController();
  void untilAskedToStop({ hangUp: true }).then((name) => controller.abort(name));
  return controller.signal;
}
