import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Choices } from "../random.ts";

/*
 * A disk as a trace shows it. A write or size is certain only after a flush of its file. A new, moved or deleted name is
 * certain only after a flush of its folder. Some file systems flush names together with a file, but POSIX does not promise
 * it: the rule here is the harder one.
 */

/** A record of trace.c. */
export interface Operation {
  /** `o` created or opened, `T` the same and emptied, `w` written, `t` size set, `f` file flushed, `d` folder flushed, `r` renamed, `l` linked, `u` unlinked, `a` answer, `m` what the trace cannot follow. */
  readonly kind: string;
  readonly path: string;
  readonly inode: bigint;
  readonly at: number;
  /** Duration of a flush. */
  readonly micros: number;
  readonly data: Buffer;
  /** Bytes of the log up to the end of this record. */
  readonly end: number;
}

const HEADER_BYTES = 32;

/** Reads the records of a trace. */
export function readTrace(path: string): Operation[] {
  const log = readFileSync(path);
  const operations: Operation[] = [];
  for (let start = 0; start < log.length; ) {
    const pathBytes = log.readUInt32LE(start);
    const dataStart = start + HEADER_BYTES + pathBytes;
    const end = dataStart + log.readUInt32LE(start + 4);
    operations.push({
      kind: String.fromCharCode(log.readUInt8(start + 28)),
      path: log.toString("utf8", start + HEADER_BYTES, dataStart),
      inode: log.readBigUInt64LE(start + 8),
      at: Number(log.readBigInt64LE(start + 16)),
      micros: log.readUInt32LE(start + 24),
      data: log.subarray(dataStart, end),
      end,
    });
    start = end;
  }
  return operations;
}

/** A write, or a size without data. */
interface Change {
  readonly at: number;
  readonly data?: Buffer;
}

/** A change that is not certain, with its place in the order of all. */
type Uncertain = Change & { readonly order: number };

/** Bytes of a file. */
class Content {
  #bytes: Buffer;
  size: number;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.size = bytes.length;
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.size);
  }

  copy(): Content {
    return new Content(Buffer.from(this.bytes));
  }

  make({ at, data }: Change): void {
    if (data === undefined) this.resize(at);
    else {
      this.resize(Math.max(this.size, at + data.length));
      data.copy(this.#bytes, at);
    }
  }

  resize(size: number, fill: Fill = 0): void {
    if (size > this.#bytes.length) {
      const larger = Buffer.alloc(size * 2);
      this.#bytes.copy(larger, 0, 0, this.size);
      this.#bytes = larger;
    }
    if (size > this.size) this.#bytes.fill(fill, this.size, size);
    this.size = size;
  }
}

type Fill = Buffer | 0;

class File {
  readonly certain: Content;
  changes: Uncertain[] = [];

  constructor(bytes: Buffer) {
    this.certain = new Content(bytes);
  }

  flush(): void {
    for (const change of this.changes) this.certain.make(change);
    this.changes = [];
  }
}

type Names = Map<string, File>;

interface NameChange {
  readonly order: number;
  readonly folder: string;
  readonly make: (names: Names) => void;
}

/** What a crash does to changes that are not certain. */
export interface Crash {
  /** Whether a change survives. Of a torn one, some sectors do. */
  readonly survives: (order: number) => boolean | "torn";
  readonly sectorSurvives: () => boolean;
  /** Bytes of a sector. */
  readonly sector: number;
  /** Content of a file's new part if it has the new size, but its data is lost; undefined: it has not. */
  readonly fill: Fill | undefined;
}

export class Disk {
  /** The names that are certain, and all. */
  readonly #certain: Names = new Map();
  readonly #names: Names;
  #changes: NameChange[] = [];
  readonly #files = new Map<bigint, File>();
  #order = 0;

  /** @param folder whose files are all certain. */
  constructor(folder: string) {
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      const { ino } = statSync(path, { bigint: true });
      if (!isData(path)) continue;
      const file = new File(readFileSync(path));
      this.#files.set(ino, file);
      this.#certain.set(path, file);
    }
    this.#names = new Map(this.#certain);
  }

  /** The places of the changes that are not certain, in order. */
  get uncertain(): number[] {
    const changes = [...this.#changes, ...[...this.#files.values()].flatMap((file) => file.changes)];
    return changes.map(({ order }) => order).sort((a, b) => a - b);
  }

  /** @throws Error if the trace cannot be followed. */
  run(operation: Operation): void {
    const { kind, path, inode, at, data } = operation;
    this.#order += 1;
    const change = (made: Change) => {
      const file = this.#files.get(inode);
      if (file === undefined) throw new Error(`the trace writes to ${path}, which it does not know`);
      file.changes.push({ ...made, order: this.#order });
    };
    if (kind === "w") change({ at, data });
    else if (kind === "t") change({ at });
    else if (kind === "f") this.#files.get(inode)?.flush();
    else if (kind === "d") this.#flushFolder(path);
    else if (kind === "o" || kind === "T") {
      if (this.#names.get(path) !== this.#files.get(inode) || !this.#names.has(path)) this.#create(path, inode);
      if (kind === "T") change({ at: 0 });
    } else if (kind === "u") this.#rename(path, (names) => names.delete(path));
    else if (kind === "r" || kind === "l") {
      const to = data.toString("utf8");
      if (dirname(path) !== dirname(to)) throw new Error(`the trace moves ${path} to ${to}`);
      const file = this.#names.get(path);
      this.#rename(path, (names) => {
        // Without its old name, the file was lost before the move.
        if (file === undefined || names.get(path) !== file) return;
        names.set(to, file);
        if (kind === "r") names.delete(path);
      });
    } else if (kind !== "a") throw new Error(`the trace cannot follow what is done to ${path}`);
  }

  /** The files after a crash now. @returns also what survived: equal for equal files. */
  crash({ survives, sectorSurvives, sector, fill }: Crash): { files: Map<string, Buffer>; survivors: string } {
    const names = new Map(this.#certain);
    let survivors = "";
    const note = (isKept: boolean) => {
      survivors += isKept ? "1" : "0";
      return isKept;
    };
    for (const { order, make } of this.#changes) if (note(survives(order) !== false)) make(names);
    const files = [...names].map(([path, { certain, changes }]): [string, Buffer] => {
      const content = certain.copy();
      const lose = ({ at, data }: Change) => {
        const end = at + (data?.length ?? 0);
        if (fill !== undefined && end > content.size) content.resize(end, fill);
      };
      for (const change of changes) {
        const fate = survives(change.order);
        if (fate === "torn" && change.data !== undefined)
          for (const piece of piecesOf(change.at, change.data, sector)) {
            if (note(sectorSurvives())) content.make(piece);
            else lose(piece);
          }
        else if (note(fate !== false)) content.make(change);
        else lose(change);
      }
      return [path, content.bytes];
    });
    return { files: new Map(files), survivors };
  }

  #create(path: string, inode: bigint): void {
    const file = new File(Buffer.alloc(0));
    this.#files.set(inode, file);
    this.#rename(path, (names) => names.set(path, file));
  }

  #rename(path: string, make: NameChange["make"]): void {
    make(this.#names);
    this.#changes.push({ order: this.#order, folder: dirname(path), make });
  }

  #flushFolder(folder: string): void {
    for (const change of this.#changes) if (change.folder === folder) change.make(this.#certain);
    this.#changes = this.#changes.filter((change) => change.folder !== folder);
  }
}

/** A regular file that a power cut leaves: SQLite makes its index of the write-ahead log again. */
export function isData(path: string): boolean {
  return !path.endsWith("-shm") && statSync(path).isFile();
}

/** The parts of a write in whole sectors of the file. */
function* piecesOf(at: number, data: Buffer, sector: number): Generator<Change> {
  for (let start = 0; start < data.length; ) {
    const end = Math.min(data.length, start + sector - ((at + start) % sector));
    yield { at: at + start, data: data.subarray(start, end) };
    start = end;
  }
}

const SECTORS = [512, 4096] as const;
const CHANCES = [0.05, 0.5, 0.95] as const;
const GARBAGE_BYTES = 8_192;

/** All that is certain, and nothing else. */
export const NOTHING_ELSE: Crash = {
  survives: () => false,
  sectorSurvives: () => false,
  sector: 512,
  fill: undefined,
};

/** All that was written. */
export const EVERYTHING: Crash = { ...NOTHING_ELSE, survives: () => true };

/** Chooses a crash: any subset of the changes survives, sectors of each, or the first ones. @param uncertain see Disk. */
export function chooseCrash(choices: Choices, uncertain: readonly number[]): Crash {
  const chance = choices.of(CHANCES);
  const happens = () => choices.below(1_000) < chance * 1_000;
  const last = choices.of(uncertain);
  const garbage = () => Buffer.from(Array.from({ length: GARBAGE_BYTES }, () => choices.below(256)));
  return {
    survives: choices.of<Crash["survives"]>([
      happens,
      () => "torn",
      (order) => (order === last ? "torn" : order < last),
    ]),
    sectorSurvives: happens,
    sector: choices.of(SECTORS),
    fill: choices.of<() => Fill | undefined>([() => undefined, () => undefined, () => 0, garbage])(),
  };
}
