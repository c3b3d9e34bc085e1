/**
 * Room on disk for what does not fit into memory. Whatever becomes of the process, nothing of it stays: what is kept
 * here are a partner's books.
 */
export interface Scratch {
  /** Resolves with the place from which it can be read again. @throws ScratchFailed where the disk does not take it. */
  readonly append: (block: Uint8Array) => Promise<number>;
  readonly read: (at: number, bytes: number) => Promise<Uint8Array>;
  readonly close: () => Promise<void>;
}

/** The disk does not take, or give back, what is laid aside. */
export class ScratchFailed extends Error {
  override readonly name = "ScratchFailed";
}
