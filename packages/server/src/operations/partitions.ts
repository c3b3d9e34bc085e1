import type { Scratch } from "./scratch.ts";

/** JSON, whose amounts are texts. */
export type ScratchRecord = readonly unknown[];

/** What a partition gathers before it goes to the disk: together they stay small, and each write is worth it. */
const BLOCK_CHARACTERS = 16 * 1024;

/**
 * Records, spread over a number of partitions, each of which fits into memory even where all of them do not. All share
 * one file: a partition is a list of blocks in it.
 */
export class Partitions {
  readonly #scratch: Scratch;
  readonly #partitions: Partition[];

  constructor(scratch: Scratch, count: number) {
    this.#scratch = scratch;
    this.#partitions = Array.from({ length: count }, emptyPartition);
  }

  /** Keeps a record in memory until {@link spill}, which is to be called now and then. */
  add(partition: number, record: ScratchRecord): void {
    const { lines } = this.#at(partition);
    const line = JSON.stringify(record);
    lines.push(line);
    this.#at(partition).characters += line.length;
  }

  /** Writes what has grown. */
  async spill(): Promise<void> {
    for (const partition of this.#partitions) {
      if (partition.characters >= BLOCK_CHARACTERS) await this.#write(partition);
    }
  }

  /** The records of a partition, a block at a time, in the order in which they were added. It is empty afterwards. */
  async *take(partition: number): AsyncGenerator<ScratchRecord[]> {
    const { blocks, lines } = this.#at(partition);
    this.#partitions[partition] = emptyPartition();
    for (const { at, bytes } of blocks) yield decode(Buffer.from(await this.#scratch.read(at, bytes)).toString("utf8"));
    yield decode(lines.join(","));
  }

  async #write(partition: Partition): Promise<void> {
    const block = Buffer.from(partition.lines.join(","), "utf8");
    partition.lines = [];
    partition.characters = 0;
    partition.blocks.push({ at: await this.#scratch.append(block), bytes: block.length });
  }

  #at(partition: number): Partition {
    const found = this.#partitions[partition];
    if (found === undefined) throw new RangeError(`there is no partition ${partition}`);
    return found;
  }
}

interface Partition {
  lines: string[];
  characters: number;
  readonly blocks: { readonly at: number; readonly bytes: number }[];
}

function emptyPartition(): Partition {
  return { lines: [], characters: 0, blocks: [] };
}

function decode(lines: string): ScratchRecord[] {
  return JSON.parse(`[${lines}]`) as ScratchRecord[];
}

/** The partition of a key: the same for both sides, and about as many keys in each (FNV-1a). */
export function partitionOf(key: string, count: number): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index += 1) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  return (hash >>> 0) % count;
}
