import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DatabaseSync } from "@photostructure/sqlite";
import { audit, Told } from "../book.ts";
import { plantedProgram } from "../planted.ts";
import { compileLibrary, lacksCompiler } from "../preload.ts";
import { expectTopupd } from "../processes.ts";
import { Choices } from "../random.ts";
import { load, makePartners, type Said, txnIdsIn } from "./load.ts";
import {
  type Crash,
  chooseCrash,
  Disk,
  EVERYTHING,
  isData,
  NOTHING_ELSE,
  type Operation,
  readTrace,
} from "./replay.ts";

export interface PowerOptions {
  readonly seed: number;
  readonly images: number;
  /** An empty folder. */
  readonly cwd: string;
  /** A folder on the disk that is examined, for a report on it. */
  readonly folder?: string | undefined;
}

/** Images for each top-up and command of the load: a longer trace has more places to cut. */
const IMAGES_PER_TOP_UP = 10;
const IMAGES_PER_COMMAND = 500;
/** Images of the control, of which many lose: at least so many, and a share of the others. */
const [CONTROL_IMAGES, CONTROL_SHARE] = [40, 10];
/** Every how many images one is opened by `topupd check` too. */
const CHECKED_EVERY = 100;
/** How long a flush takes at least. */
const FLUSH_MICROS = 2_000;
/** A disk whose flushes are faster may not make them. */
const DOUBTFUL_MICROS = 100;

/** The control does not flush when it commits. */
const NOT_FLUSHED = [
  ["journal_mode = WAL; PRAGMA synchronous = FULL;", "journal_mode = WAL; PRAGMA synchronous = NORMAL;"],
  ["SYNCHRONOUS_FULL = 2;", "SYNCHRONOUS_FULL = 1;"],
] as const;

/**
 * Records what a service under load writes and flushes. Makes the files that a power cut could leave, at every answer and
 * every flush, and asks each whether all that was acknowledged is there. The same with a service that does not flush must
 * lose.
 * @throws Error that names the first violation, or says that the control loses nothing.
 */
export async function power({ seed, images, cwd, folder }: PowerOptions): Promise<string> {
  const lacking = lacksCompiler();
  if (lacking !== undefined) return lacking;
  const work = mkdtempSync(join(realpathSync(folder ?? cwd), "topupd-power-"));
  const fast = existsSync("/dev/shm") ? "/dev/shm" : cwd;
  const imageFolder = folder === undefined ? mkdtempSync(join(fast, "topupd-power-")) : join(work, "image");
  try {
    const library = compileLibrary(new URL("trace.c", import.meta.url), cwd);
    const flushMicros = folder === undefined ? FLUSH_MICROS : 0;
    const provider = join(work, "provider");
    mkdirSync(provider);
    const tokens = await makePartners({ cwd: provider });
    const common = { seed, library, imageFolder, flushMicros, provider, tokens };
    const real = await cutPower({ ...common, cwd: join(work, "real"), images });
    const program = plantedProgram(join(cwd, "planted"), NOT_FLUSHED);
    const share = Math.max(CONTROL_IMAGES, Math.ceil(images / CONTROL_SHARE));
    const control = await cutPower({ ...common, cwd: join(work, "control"), images: share, program });
    if (control.most === 0) throw new Error("the control loses nothing: the campaign has shown nothing");
    if (folder !== undefined) return report(folder, real, control);
    if (real.lossy > 0) throw new Error(fallOf(real));
    return (
      `${real.images} images of ${real.load}: 0 lose anything (${real.checked} also opened by topupd check); ` +
      `control: ${control.lossy} of ${control.images} images lose what was acknowledged, up to ${control.most} top-ups`
    );
  } finally {
    rmSync(work, { recursive: true, force: true });
    rmSync(imageFolder, { recursive: true, force: true });
  }
}

interface Cut {
  readonly seed: number;
  readonly cwd: string;
  readonly images: number;
  readonly library: string;
  readonly imageFolder: string;
  readonly flushMicros: number;
  /** A folder with a provider's database, and tokens of its partners. */
  readonly provider: string;
  readonly tokens: readonly string[];
  readonly program?: string;
}

interface Outcome {
  images: number;
  checked: number;
  /** Images that lose anything, and the most that one loses. */
  lossy: number;
  most: number;
  /** Findings of the first lossy image, and a copy of it. */
  first: readonly string[];
  kept: string;
  readonly load: string;
  /** Durations of flushes in microseconds, sorted. */
  readonly flushes: readonly number[];
}

async function cutPower(cut: Cut): Promise<Outcome> {
  const { operations, said, disk } = await record(cut);
  const { seed, images, imageFolder, program } = cut;
  const choices = new Choices(seed);
  const told = new Told();
  const staff: Said[] = [];
  const flushes = operations.filter(({ kind }) => kind === "f" || kind === "d").map(({ micros }) => micros);
  const acknowledged = new Set(said.flatMap(({ answer }) => txnIdsIn(answer?.text ?? ""))).size;
  const commands = said.filter(({ answer }) => answer === undefined).length;
  const outcome: Outcome = {
    ...{ images: 0, checked: 0, lossy: 0, most: 0, first: [], kept: "" },
    load: `${acknowledged} top-ups, ${commands} commands and ${flushes.length} flushes`,
    flushes: flushes.sort((a, b) => a - b),
  };
  const cuts = operations.filter(isCut).length + 1;
  let left = cuts;
  let next = 0;
  const ask = async (crash: Crash, seen: Set<string>) => {
    const { files, survivors } = disk.crash(crash);
    if (seen.has(survivors)) return;
    seen.add(survivors);
    write(imageFolder, files);
    outcome.images += 1;
    const isChecked = program === undefined && outcome.images % CHECKED_EVERY === 0;
    if (isChecked) outcome.checked += 1;
    const found = await examine(imageFolder, told, staff, isChecked);
    if (found.length === 0) return;
    outcome.lossy += 1;
    outcome.most = Math.max(outcome.most, found.filter((what) => what.startsWith(LOST)).length);
    if (outcome.lossy > 1 || program !== undefined) return;
    write(imageFolder, files);
    outcome.first = found;
    outcome.kept = mkdtempSync(join(tmpdir(), "topupd-power-loss-"));
    cpSync(imageFolder, outcome.kept, { recursive: true });
  };
  const cutHere = async (place: number) => {
    for (let one = said[next]; one !== undefined && one.place <= place; one = said[++next]) {
      const { answer } = one;
      if (answer === undefined) staff.push(one);
      else told.hear(answer.checkoutId, answer.text);
    }
    const { uncertain } = disk;
    const share = Math.ceil((images - outcome.images) / left);
    const seen = new Set<string>();
    left -= 1;
    // A small number of images is spread over all places.
    if (choices.below(2 * cuts) >= images) return;
    await ask(NOTHING_ELSE, seen);
    if (uncertain.length === 0) return;
    await ask(EVERYTHING, seen);
    for (let tried = 2; tried < 2 * share && seen.size < share; tried += 1)
      await ask(chooseCrash(choices, uncertain), seen);
  };
  let before = 0;
  for (const operation of operations) {
    // An answer counts when it is sent. A flush does not count before its end.
    if (isCut(operation)) await cutHere(operation.kind === "a" ? operation.end : before);
    disk.run(operation);
    before = operation.end;
  }
  await cutHere(Infinity);
  return outcome;
}

const LOST = "a top-up that was acknowledged and is not there";

function isCut({ kind, data }: Operation): boolean {
  return kind === "f" || kind === "d" || (kind === "a" && data.includes('"txnId"'));
}

/** Runs the load on a service whose writes are recorded. @returns the trace, what was said, and the disk before it. */
async function record({ seed, cwd, images, library, flushMicros, provider, tokens, program }: Cut) {
  const data = join(cwd, "data");
  const log = join(cwd, "trace");
  cpSync(provider, data, { recursive: true });
  writeFileSync(log, "");
  const [disk, again] = [new Disk(data), new Disk(data)];
  const env = { LD_PRELOAD: library, TRACE_FOLDER: data, TRACE_LOG: log, TRACE_FLUSH_MICROS: String(flushMicros) };
  const place = () => statSync(log).size;
  const [topUps, commands] = [Math.ceil(images / IMAGES_PER_TOP_UP), Math.ceil(images / IMAGES_PER_COMMAND) + 1];
  const expected = new Map<number, Map<string, Buffer>>();
  const quiet = async () => {
    for (let tried = 0; tried < 100 && expected.size === 0; tried += 1) {
      const before = place();
      await sleep(100);
      const files = filesIn(data);
      if (place() === before) expected.set(before, files);
    }
  };
  const ground = { cwd: data, env, ...(program !== undefined && { program }) };
  const said = await load(ground, tokens, { seed, topUps, commands, place, quiet });
  const operations = readTrace(log);
  if (expected.size === 0) throw new Error("the service never stops writing");
  expected.set(place(), filesIn(data));
  verifyReplay(again, operations, expected);
  return { operations, disk, said: sharpened(said, operations) };
}

/** The partner has an acknowledgement as soon as the service sends it, which the trace shows. */
function sharpened(said: readonly Said[], operations: readonly Operation[]): Said[] {
  const sent = new Map<string, number>();
  for (const { kind, data, end } of operations)
    if (kind === "a") for (const txnId of txnIdsIn(data.toString("utf8"))) sent.set(txnId, sent.get(txnId) ?? end);
  const exact = said.map((one) => {
    const [txnId] = txnIdsIn(one.answer?.text ?? "");
    if (txnId === undefined) return one;
    const place = sent.get(txnId);
    if (place === undefined || place > one.place) throw new Error(`the trace lacks the answer with ${txnId}`);
    return { ...one, place };
  });
  return exact.sort((a, b) => a.place - b.place);
}

/** @param expected the files of the folder at places of the trace. @throws Error unless the trace makes the same ones. */
function verifyReplay(
  disk: Disk,
  operations: readonly Operation[],
  expected: ReadonlyMap<number, Map<string, Buffer>>,
) {
  let compared = 0;
  for (const operation of operations) {
    disk.run(operation);
    const files = expected.get(operation.end);
    if (files === undefined) continue;
    const replayed = disk.crash(EVERYTHING).files;
    compared += 1;
    for (const path of new Set([...files.keys(), ...replayed.keys()]))
      if (!files.get(path)?.equals(replayed.get(path) ?? Buffer.alloc(0)))
        throw new Error(`the trace does not show everything that is written to ${path}`);
  }
  if (compared !== expected.size) throw new Error("the trace ends too early");
  if (!operations.some(({ kind, path }) => kind === "w" && path.endsWith(".db")))
    throw new Error("no checkpoint: the campaign has shown too little");
}

function filesIn(folder: string): Map<string, Buffer> {
  const paths = readdirSync(folder).map((name) => join(folder, name));
  return new Map(paths.filter(isData).map((path) => [path, readFileSync(path)]));
}

function write(folder: string, files: ReadonlyMap<string, Buffer>): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [path, bytes] of files) writeFileSync(join(folder, basename(path)), bytes);
}

/** Opens an image. @returns what is wrong with it. */
async function examine(folder: string, told: Told, staff: readonly Said[], isChecked: boolean): Promise<string[]> {
  try {
    if (isChecked) await expectTopupd(["check"], { cwd: folder });
    const path = join(folder, "topupd.db");
    return [...(await audit(path, told)), ...missingOf(path, staff)];
  } catch (error) {
    return [`the image cannot be opened: ${(error as Error).message}`];
  }
}

/** Commands that succeeded, and left nothing. */
function missingOf(path: string, staff: readonly Said[]): string[] {
  const database = new DatabaseSync(path);
  try {
    const reversal = database.prepare("SELECT 1 FROM reversal WHERE txn_id = ?");
    const entry = database.prepare("SELECT 1 FROM account_entry WHERE reference = ?");
    return staff.flatMap(({ reversed, deposited }) => {
      if (reversed !== undefined) return reversal.get(reversed) === undefined ? [`a lost reversal: ${reversed}`] : [];
      return entry.get(deposited as string) === undefined ? [`a lost deposit: ${deposited}`] : [];
    });
  } finally {
    database.close();
  }
}

function fallOf({ lossy, images, first, kept }: Outcome): string {
  return `${lossy} of ${images} images lose what was acknowledged. The first, kept in ${kept}:\n${first.join("\n")}`;
}

/** One page about a disk. */
function report(folder: string, real: Outcome, control: Outcome): string {
  const { images, flushes } = real;
  const page = [
    `${folder} (${fileSystemOf(folder)})`,
    real.lossy === 0 ? `This disk lost nothing in ${images} images.` : fallOf(real),
    "",
    `Load: ${real.load}. ${timesOf("flushes", flushes)}`,
    `Images: what a power cut could leave at every answer to a partner and at every flush; ${real.checked} also opened by topupd check.`,
    `Control: a topupd that does not flush (synchronous=NORMAL) lost up to ${control.most} acknowledged top-ups, in ${control.lossy} of ${control.images} images.`,
    "",
    "The images are made from the writes and flushes that topupd asked this system for. They cannot show that the disk",
    "obeys: a disk that reports a flush, but loses it, passes. To try that, pull the plug of this machine under load.",
  ].join("\n");
  if (real.lossy > 0) throw new Error(page);
  return page;
}

/** How long flushes or commits took. @param micros sorted. */
export function timesOf(what: string, micros: readonly number[]): string {
  const [half, most] = [0.5, 0.99].map((share) => micros[Math.floor(micros.length * share)] ?? 0) as [number, number];
  const ms = (time: number) => `${(time / 1000).toFixed(2)} ms`;
  const doubt = `\nThe ${what} are faster than most disks can write: ask whether this disk keeps its cache in a power cut.`;
  return `Half of the ${what} took ${ms(half)} or less, 99 % ${ms(most)} or less.${half < DOUBTFUL_MICROS ? doubt : ""}`;
}

/** Type and device of the file system of a folder. */
function fileSystemOf(folder: string): string {
  const path = `${realpathSync(folder)}/`;
  const mounts = readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" "));
  const over = mounts.filter(([, at = ""]) => at === "/" || path.startsWith(`${at}/`));
  const [device, , type] = over.toSorted(([, a = ""], [, b = ""]) => a.length - b.length).at(-1) ?? [];
  return `${type} on ${device}`;
}
