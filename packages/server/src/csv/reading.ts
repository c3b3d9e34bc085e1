import { SERVICES, type Service } from "../domain/bouquet.ts";
import { CONNECTION_TEXTS } from "../domain/customer.ts";
import type { FieldProblem } from "../domain/fields.ts";
import type { JsonObject } from "../domain/json.ts";
import { type CurrencyExponent, parseMoney } from "../domain/money.ts";
import { LISTED_OUTCOMES, type ListedOutcome } from "../domain/practice-report.ts";
import type { TheirRow, TheirStatus, UnreadableRow } from "../domain/reconciliation.ts";
import { Refused } from "../domain/refused.ts";
import { identifierProblem } from "../domain/written-value.ts";
import { type ParsedRow, readRows } from "./parsing.ts";
import type { SourceRow } from "./rows.ts";
import { CATALOGUE_HEADER, CONNECTION_COLUMNS, PROFILE_COLUMNS, SUBSCRIPTION_COLUMNS, unguardCell } from "./writing.ts";

type SourceRows = AsyncGenerator<readonly SourceRow[]>;

/** The rows of a catalogue file, one bouquet a line. */
export async function* readCatalogueCsv(pieces: AsyncIterable<Uint8Array>): SourceRows {
  for await (const { line, cells, problems } of readCsvLines(pieces, CATALOGUE_HEADER)) {
    const { segments, retired, ...texts } = Object.fromEntries(cells);
    const flag = retired?.toLowerCase();
    const isFlag = flag === "true" || flag === "false";
    const fields = { ...texts, segments: segments?.split("\n"), retired: isFlag ? flag === "true" : retired };
    const value = objectOf(fields);
    yield [{ line, value: problems.length > 0 ? { ok: false, problems } : { ok: true, value } }];
  }
}

/** Columns of the customer, equal on all its lines. */
const CUSTOMER_COLUMNS = [...PROFILE_COLUMNS, "asOf", "goodwill"] as const;

/** The customers of a file. Each connection has a line; the lines of a customer follow each other. */
export async function* readCustomersCsv(pieces: AsyncIterable<Uint8Array>): SourceRows {
  let group: CsvLine[] = [];
  for await (const line of readCsvLines(pieces, [...CUSTOMER_COLUMNS, ...CONNECTION_COLUMNS])) {
    const cuid = line.cells.get("cuid");
    if (group.length > 0 && (cuid === undefined || cuid !== group[0]?.cells.get("cuid"))) {
      yield [customerOf(group)];
      group = [];
    }
    group.push(line);
  }
  if (group.length > 0) yield [customerOf(group)];
}

function customerOf(lines: readonly CsvLine[]): SourceRow {
  const [{ cells, line }] = lines as [CsvLine];
  const problems = lines.flatMap((each) =>
    each.problems.map(({ field, problem }) => ({ field, problem: `${problem} (line ${each.line})` })),
  );
  const report = (field: string, problem: string) => problems.push({ field, problem });
  const lists: Record<Service, JsonObject[]> = { tv: [], internet: [], iptv: [] };
  for (const each of lines) {
    const other = CUSTOMER_COLUMNS.find((column) => each.cells.get(column) !== cells.get(column));
    if (other !== undefined) report(other, `is another on line ${each.line} of the same customer`);
    const hasConnection = CONNECTION_COLUMNS.some((column) => each.cells.has(column));
    if (!hasConnection && lines.length > 1) report("connection", `is empty on line ${each.line}, and there are others`);
    if (!hasConnection) continue;
    const service = SERVICES.find((known) => known === each.cells.get("service"));
    if (service === undefined) report("service", `must be one of ${SERVICES.join(", ")} on line ${each.line}`);
    else lists[service].push(connectionOf(each, service));
  }
  if (problems.length > 0) return { line, value: { ok: false, problems } };
  const profile = Object.fromEntries(CUSTOMER_COLUMNS.map((column) => [column, cells.get(column)]));
  const connections = Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));
  const value = objectOf({ first_name: "", last_name: "", ...objectOf(profile), connections });
  return { line, value: { ok: true, value } };
}

function connectionOf({ cells, hasSubscriptions }: CsvLine, service: Service): JsonObject {
  const columns = SUBSCRIPTION_COLUMNS.map((name) => [name, cells.get(name)?.split("\n") ?? []] as const);
  const count = Math.max(...columns.map(([, values]) => values.length));
  const subscriptions = Array.from({ length: count }, (_, index) =>
    objectOf(Object.fromEntries(columns.map(([name, values]) => [name, values[index] || undefined]))),
  );
  return objectOf({
    [service === "tv" ? "stb" : "username"]: cells.get("connection"),
    status: cells.get("connection_status"),
    ...Object.fromEntries(CONNECTION_TEXTS.map((name) => [name, cells.get(name)])),
    // A file without these columns leaves subscriptions unchanged.
    subscriptions: hasSubscriptions ? subscriptions : undefined,
  });
}

/** A row without its undefined values. */
function objectOf(fields: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject;
}

/** A line below the header, by its columns. Empty cells are omitted. */
interface CsvLine {
  readonly line: number;
  readonly cells: ReadonlyMap<string, string>;
  readonly problems: readonly FieldProblem[];
  /** Whether the file has columns of subscriptions. */
  readonly hasSubscriptions: boolean;
}

/** @throws Refused if the header is no CSV, or has an unknown or a repeated column. */
async function* readCsvLines(pieces: AsyncIterable<Uint8Array>, columns: readonly string[]): AsyncGenerator<CsvLine> {
  let header: readonly string[] | undefined;
  for await (const row of readRows(pieces, ",")) {
    if (header === undefined) header = readHeader(row, columns);
    else yield readLine(row, header);
  }
}

function readHeader(row: ParsedRow, columns: readonly string[]): readonly string[] {
  const names = namesOf(row);
  const wrong = names.find((name, index) => !columns.includes(name) || names.indexOf(name) !== index);
  if (wrong === undefined) return names;
  const known = `the first line must name columns out of ${columns.join(",")}, with commas between them, each once`;
  throw new Refused("invalid", `${known}, but has ${JSON.stringify(wrong.slice(0, 64))}`);
}

/** The names of a file's columns. @throws Refused if its first line is no CSV. */
function namesOf({ cells, line, problem }: ParsedRow): string[] {
  if (problem !== undefined) throw new Refused("invalid", `line ${line} ${problem}`);
  return cells.map((cell) => cell.trim());
}

function readLine({ cells: row, line, problem: noRow }: ParsedRow, header: readonly string[]): CsvLine {
  const cells = new Map<string, string>();
  const problems: FieldProblem[] = [];
  if (noRow !== undefined) problems.push({ field: "(line)", problem: noRow });
  else if (row.length !== header.length)
    problems.push({ field: "(line)", problem: `has ${row.length} cells, and the header ${header.length}` });
  for (const [index, field] of header.entries()) {
    const cell = unguardCell(row[index] ?? "");
    if (cell !== "") cells.set(field, cell);
    if (cell.includes("\ufffd"))
      problems.push({ field, problem: 'is not UTF-8: in a spreadsheet, save the file as "CSV UTF-8"' });
  }
  return { line, cells, problems, hasSubscriptions: SUBSCRIPTION_COLUMNS.some((name) => header.includes(name)) };
}

/** Reads a partner's list of practice orders: their outcomes, by checkoutId. @throws Refused if a line is wrong. */
export async function readPracticeList(bytes: AsyncIterable<Uint8Array>): Promise<Map<string, ListedOutcome>> {
  const list = new Map<string, ListedOutcome>();
  let columns: readonly number[] | undefined;
  for await (const row of readRows(bytes, ",")) {
    const { line } = row;
    const texts = namesOf(row).map(unguardCell);
    if (columns === undefined) {
      columns = ["checkoutId", "outcome"].map((name) => texts.indexOf(name));
      if (columns.includes(-1)) throw new Refused("invalid", "the first line must name order,checkoutId,outcome");
      continue;
    }
    const [checkoutId = "", word = ""] = columns.map((index) => texts[index] ?? "");
    const outcome = LISTED_OUTCOMES.find((each) => each === word.toLowerCase());
    if (outcome === undefined)
      throw new Refused("invalid", `the outcome on line ${line} must be one of ${LISTED_OUTCOMES.join(", ")}`);
    const problem = identifierProblem(checkoutId);
    if (problem !== undefined) throw new Refused("invalid", `the checkoutId on line ${line} ${problem}`);
    if (checkoutId === "" || list.has(checkoutId))
      throw new Refused("invalid", `line ${line} must have a checkoutId that is on no other line`);
    list.set(checkoutId, outcome);
  }
  if (columns === undefined) throw new Refused("invalid", "the list is empty: it must begin with its column names");
  return list;
}

/** How to read a partner's CSV. */
interface PartnerFileFormat {
  readonly delimiter: string;
  readonly keyColumn: string;
  readonly amountColumn: string;
  /** Undefined means that every row is a success. */
  readonly statusColumn: string | undefined;
  /** Keys are the partner's words in lower case. */
  readonly statuses: ReadonlyMap<string, TheirStatus>;
  readonly currencyExponent: CurrencyExponent;
}

type Theirs = TheirRow | UnreadableRow;

/**
 * Reads the rows of a partner's CSV. An unreadable row is yielded with its problem.
 * @throws Refused if the file lacks a column.
 */
export async function* readPartnerFile(
  bytes: AsyncIterable<Uint8Array>,
  format: PartnerFileFormat,
): AsyncGenerator<Theirs> {
  let read: ((row: ParsedRow) => Theirs) | undefined;
  for await (const row of readRows(bytes, format.delimiter)) {
    if (read === undefined) read = rowReader(namesOf(row), format);
    else if (row.problem !== undefined) yield { line: row.line, key: undefined, problem: row.problem };
    else if (row.cells.some((cell) => cell.trim() !== "")) yield read(row);
  }
  if (read === undefined)
    throw new Refused("invalid", "the file is empty: it must begin with the names of its columns");
}

/** @param names of the columns. */
function rowReader(names: readonly string[], format: PartnerFileFormat): (row: ParsedRow) => Theirs {
  const { keyColumn, amountColumn, statusColumn } = format;
  const indexOf = (field: string, name: string) => {
    const index = names.indexOf(name);
    if (index !== -1 && names.lastIndexOf(name) === index) return index;
    throw Refused.field(
      field,
      `must name one column, but ${quote(name)} is none or several of ${names.map(quote).join(", ")}`,
    );
  };
  const keyIndex = indexOf("keyColumn", keyColumn);
  const amountIndex = indexOf("amountColumn", amountColumn);
  const statusIndex = statusColumn === undefined ? undefined : indexOf("statusColumn", statusColumn);

  return ({ cells, line }) => {
    const cell = (index: number) => unguardCell(cells[index]?.trim() ?? "");
    // An extra comma, in a name or an amount, has moved the later cells: none can be trusted.
    if (cells.slice(names.length).some((text) => text.trim() !== ""))
      return { line, key: undefined, problem: `it has ${cells.length} cells, and the header has ${names.length}` };
    const key = cell(keyIndex);
    const wrongKey = keyProblem(key);
    if (wrongKey !== undefined) return { line, key: undefined, problem: `${keyColumn} ${wrongKey}` };
    const statusText = statusIndex === undefined ? undefined : cell(statusIndex);
    return readTheirs({ line, key }, cell(amountIndex), statusText, format);
  };
}

function keyProblem(key: string): string | undefined {
  if (key === "") return "is empty";
  if (/[\ufffd\0]/.test(key)) return "is not UTF-8, or holds a NUL";
  return identifierProblem(key);
}

/** @param statusText undefined if the file has no such column. */
function readTheirs(
  row: Pick<TheirRow, "line" | "key">,
  amountText: string,
  statusText: string | undefined,
  { amountColumn, statusColumn, statuses, currencyExponent }: PartnerFileFormat,
): Theirs {
  const status = statusText === undefined ? "success" : statuses.get(statusText.toLowerCase());
  const isTakenBack = amountText.startsWith("-");
  const amount = parseMoney(isTakenBack ? amountText.slice(1) : amountText, currencyExponent);
  // A failed attempt owes nothing, so its amount is ignored.
  if (status === "failed") return { ...row, amount: amount ?? 0n, status };
  if (amount === undefined)
    return { ...row, problem: `${amountColumn} is ${quote(amountText)}, and no amount such as 1130 or 1130.50` };
  if (status === undefined)
    return { ...row, problem: `${statusColumn} is ${quote(statusText ?? "")}, a word with no known meaning` };
  return { ...row, amount, status: isTakenBack ? "reversed" : status };
}

/** Shortens long texts: a cell may contain anything. */
function quote(text: string): string {
  return JSON.stringify(text.length <= 40 ? text : `${text.slice(0, 40)}…`);
}
