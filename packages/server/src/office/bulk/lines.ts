import { unguardCell } from "../../csv/writing.ts";
import { SERVICES } from "../../domain/bouquet.ts";
import type { BulkTarget } from "../../domain/bulk.ts";
import type { ConnectionKey, Environment } from "../../domain/customer.ts";
import { portionsOf } from "../../domain/portions.ts";
import { identifierProblem } from "../../domain/written-value.ts";
import { codesToFind } from "../../store/settings.ts";
import type { Store } from "../../store/store.ts";
import type { BulkRunRow } from "../../store/tables.ts";
import { type Line, readLines } from "../imports/file.ts";
import { keyOf, PORTION } from "./plan.ts";
import {
  connectionsOfCustomers,
  countGroup,
  findHolders,
  type Group,
  linesAfter,
  type OwnConnections,
  pagesOfGroup,
} from "./sql.ts";

/* The connections that the lines of a list mean. Nothing is guessed. */

/** A line of a list with its connection, or with its problem. A line that means several connections is here several times. */
export interface MeantLine {
  /** Counted from 1. */
  readonly line: number;
  readonly text: string;
  /** Number of connections, if the line names a customer or a segment. */
  readonly whole?: number | null;
  readonly meant: BulkTarget | { readonly problem: string };
}

type Meaning = Omit<MeantLine, "line" | "text">;
type Place = Pick<Store, "engine" | "provider">;

/** Bytes of a line. A connection's name needs far fewer. */
const LINE_MAX_BYTES = 1_000;
const TEXT_LENGTH = 200;
const GROUP = /^(segment|area)\s+(.+)$/;
const MOST_NAMED = 10;

/** Reads a list, some hundred lines at a time. */
export async function* readMeant(
  store: Place,
  environment: Environment,
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly MeantLine[]> {
  for await (const lines of readLines(pieces, LINE_MAX_BYTES))
    for (const some of portionsOf(lines, PORTION)) {
      const texts = some.map(textOf);
      const codes = texts.filter(({ text }) => !GROUP.test(text));
      yield await meaningOf(store, environment, codes);
      for (const line of texts) yield* meaningOfGroup(store, environment, line);
    }
}

/** The lines to which another bulk change gave goodwill, portion by portion. */
export async function* readGiven(
  { engine: { db } }: Place,
  run: Pick<BulkRunRow, "id" | "environment">,
): AsyncGenerator<readonly MeantLine[]> {
  for (let after = 0; ; ) {
    const lines = await linesAfter(db, run.id, { after, limit: PORTION, problems: false });
    const last = lines.at(-1);
    if (last === undefined) return;
    const given = lines.filter(({ entry }) => entry !== null);
    yield given.map((each) => ({ line: each.line, text: each.text, whole: each.whole, meant: keyOf(run, each) }));
    after = last.number;
  }
}

interface TextLine {
  readonly line: number;
  readonly text: string;
  /** Why the text cannot be read. */
  readonly problem?: string;
}

function textOf(line: Line): TextLine {
  if (line.text === undefined) return { line: line.number, text: "", problem: line.problem };
  // PostgreSQL cannot store NUL.
  const text = line.text
    .replace(/\p{Cc}+/gu, " ")
    .trim()
    .slice(0, TEXT_LENGTH);
  return { line: line.number, text: text.replace(/[^\s,]+/g, unguardCell) };
}

/** The meaning of lines that name no group. */
async function meaningOf(store: Place, environment: Environment, lines: readonly TextLine[]): Promise<MeantLine[]> {
  const codes = lines.filter(({ text, problem }) => problem === undefined && readKey(text, environment) === undefined);
  const found = await findByCodes(
    store,
    environment,
    codes.map(({ text }) => text),
  );
  return lines.flatMap(({ line, text, problem }) => {
    const meanings = problem === undefined ? meaningOfText(text, environment, found) : [{ meant: { problem } }];
    return meanings.map((meaning) => ({ line, text, ...meaning }));
  });
}

/** The customers that some texts find. */
interface FoundByCodes {
  /** The codes that a text is looked up with. */
  readonly codesOf: ReadonlyMap<string, readonly string[]>;
  readonly cuidsOf: (text: string) => readonly string[];
  /** Customers that are the only ones with a code. */
  readonly customers: ReadonlyMap<string, OwnConnections>;
}

async function findByCodes(
  { engine: { db }, provider }: Place,
  environment: Environment,
  texts: readonly string[],
): Promise<FoundByCodes> {
  const codesOf = new Map(texts.map((text) => [text, codesToFind(text, provider)]));
  const holders = await findHolders(db, environment, [...new Set([...codesOf.values()].flat())]);
  const cuidsOf = (text: string) => [...new Set((codesOf.get(text) ?? []).flatMap((code) => holders.get(code) ?? []))];
  const cuids = new Set([...codesOf.keys()].map(cuidsOf).flatMap((fitting) => (fitting.length === 1 ? fitting : [])));
  return { codesOf, cuidsOf, customers: await connectionsOfCustomers(db, environment, [...cuids]) };
}

function meaningOfText(text: string, environment: Environment, found: FoundByCodes): readonly Meaning[] {
  const key = readKey(text, environment);
  const wrong = identifierProblem(key?.cuid ?? text) ?? identifierProblem(key?.reqId ?? text);
  if (wrong !== undefined) return [{ meant: { problem: `the id ${wrong}` } }];
  if (key !== undefined) return [{ meant: key }];
  const [cuid = "", ...others] = found.cuidsOf(text);
  if (cuid === "") return [{ meant: { problem: `no ${environment} customer has the code ${text}` } }];
  if (others.length > 0) return [{ meant: { problem: severalFit([cuid, ...others]) } }];
  const { codes: own = [], connections = [] } = found.customers.get(cuid) ?? {};
  const isWhole = found.codesOf.get(text)?.some((code) => own.includes(code)) === true;
  return meaningOfCode(text, cuid, connections, isWhole);
}

function severalFit(cuids: readonly string[]): string {
  const more = cuids.length > MOST_NAMED ? ", …" : "";
  return `several customers have this code: ${cuids.slice(0, MOST_NAMED).join(", ")}${more}`;
}

/** @param isWhole whether the text is the customer's id or mobile number. */
function meaningOfCode(
  text: string,
  cuid: string,
  connections: readonly ConnectionKey[],
  isWhole: boolean,
): readonly Meaning[] {
  const named = connections.filter(({ reqId }) => reqId === text);
  const [only, another] = named;
  if (connections.length === 0) return [{ meant: { problem: `customer ${cuid} has no connection` } }];
  if (another !== undefined)
    return [{ meant: { problem: `several connections fit: ${named.map(lineOf).join("; ")}` } }];
  if (only !== undefined && (!isWhole || connections.length === 1)) return [{ meant: only }];
  if (only !== undefined)
    return [{ meant: { problem: `a connection and its customer have this code: write ${lineOf(only)}, or ${cuid}` } }];
  return connections.map((meant) => ({ whole: connections.length, meant }));
}

/** The connections of the segment or area that a line names. Yields nothing for other lines. */
async function* meaningOfGroup(
  { engine: { db } }: Place,
  environment: Environment,
  { line, text }: TextLine,
): AsyncGenerator<readonly MeantLine[]> {
  const [, kind, name] = GROUP.exec(text) ?? [];
  if (kind === undefined || name === undefined) return;
  const group = { kind: kind as Group["kind"], name };
  const whole = await countGroup(db, environment, group);
  if (whole === 0) yield [{ line, text, meant: { problem: `no ${environment} connection has the ${kind} ${name}` } }];
  for await (const keys of pagesOfGroup(db, environment, group, PORTION))
    yield keys.map((meant) => ({ line, text, whole, meant }));
}

function lineOf({ cuid, service, reqId }: ConnectionKey): string {
  return `${cuid} ${service} ${reqId}`;
}

/** Reads `cuid service reqId`. */
function readKey(text: string, environment: Environment): ConnectionKey | undefined {
  const [cuid = "", named, reqId = "", ...others] = text.split(/[\s,]+/).filter(Boolean);
  const service = SERVICES.find((known) => known === named);
  return service === undefined || reqId === "" || others.length > 0 ? undefined : { environment, cuid, service, reqId };
}
