import { Duplex } from "node:stream";

/**
 * The server's side of a connection in memory, for `server.emit("connection", socket)`: chunks arrive as they were
 * sent, and answers are seen as they leave.
 */
export class MemorySocket extends Duplex {
  readonly remoteAddress = "127.0.0.1";
  bytesRead = 0;
  /** State of the service's own direction. */
  left: "open" | "ended" | "destroyed" = "open";
  readonly #written: Buffer[] = [];
  readonly #onChange: () => void;
  #hasEnded = false;

  constructor(onChange: () => void) {
    super({ allowHalfOpen: true });
    this.#onChange = onChange;
    this.on("error", () => {});
    // Like net.Socket: chunks that arrive from now on are not kept for a later turn.
    this.read(0);
  }

  receive(chunk: Buffer): void {
    if (this.destroyed || this.#hasEnded) return;
    this.bytesRead += chunk.length;
    this.push(chunk);
  }

  /** The caller closes its own direction. */
  receiveEnd(): void {
    if (this.destroyed || this.#hasEnded) return;
    this.#hasEnded = true;
    this.push(null);
  }

  get answers(): string {
    return Buffer.concat(this.#written).toString("latin1");
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#written.push(chunk);
    this.#onChange();
    done();
  }

  override _final(done: () => void): void {
    this.#leave("ended");
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#leave("destroyed");
    done(error);
  }

  #leave(left: "ended" | "destroyed"): void {
    this.left = left;
    this.#onChange();
  }

  // The rest of net.Socket that servers call.

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once("finish", () => this.destroy());
  }

  setTimeout(): this {
    return this;
  }
}
