import { SERVICES } from "../../domain/bouquet.ts";
import type { FieldProblem } from "../../domain/fields.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { SourceRow } from "../../services/staff/import-file.ts";
import { CATALOGUE_HEADER, CONNECTION_COLUMNS, PROFILE_COLUMNS, SUBSCRIPTION_COLUMNS } from "./cells.ts";
import { type CsvLine, linesOf, readCsvLines } from "./reading.ts";

/*
 * Catalogues and customers files in CSV, as the rows that NDJSON has.
 */

type SourceRows = AsyncGenerator<readonly SourceRow[]>;

/** The rows of a catalogue: one bouquet on each line. */
export async function* readCatalogueCsv(pieces: AsyncIterable<Uint8Array>): SourceRows {
  for await (const lines of readCsvLines(pieces, CATALOGUE_HEADER)) {
    yield lines.map(({ line, cells, problems }): SourceRow => {
      if (problems.length > 0) return { line, value: { ok: false, problems } };
      const { segments, retired, ...texts } = Object.fromEntries(cells);
      const flag = retired?.toLowerCase();
      const isFlag = flag === "true" || flag === "false";
      const value = objectOf({
        ...texts,
        segments: segments && linesOf(segments),
        retired: isFlag ? flag === "true" : retired,
      });
      return { line, value: { ok: true, value } };
    });
  }
}

/** Of the customer, and the same on each of its lines. */
const CUSTOMER_COLUMNS = [...PROFILE_COLUMNS, "asOf"] as const;

/** Far more connections than anybody has, and about as many as a line of NDJSON holds: they are held together. */
const MOST_LINES = 5_000;

/**
 * The customers of a file: a line for each connection, those of a customer together. A customer that stood in two places
 * would be two rows, the second without the connections of the first; that is refused, and for that the cuids are kept.
 */
export async function* readCustomersCsv(pieces: AsyncIterable<Uint8Array>): SourceRows {
  const seen = new Set<string>();
  let group: CsvLine[] = [];
  for await (const lines of readCsvLines(pieces, [...CUSTOMER_COLUMNS, ...CONNECTION_COLUMNS])) {
    const rows: SourceRow[] = [];
    for (const line of lines) {
      const cuid = line.cells.get("cuid");
      if (group.length > 0 && (cuid === undefined || cuid !== group[0]?.cells.get("cuid"))) {
        rows.push(customerOf(group, seen));
        group = [];
      }
      // Of those that are too many, one is enough to say so.
      if (group.length <= MOST_LINES) group.push(line);
    }
    yield rows;
  }
  if (group.length > 0) yield [customerOf(group, seen)];
}

function customerOf(lines: readonly CsvLine[], seen: Set<string>): SourceRow {
  const [first] = lines as [CsvLine];
  const { cells, line } = first;
  const cuid = cells.get("cuid") ?? "";
  const problems: LocatedProblem[] = lines.flatMap((each) => each.problems.map((problem) => ({ ...problem, ...each })));
  const report = (at: CsvLine, field: string, problem: string) => problems.push({ line: at.line, field, problem });
  if (seen.has(cuid)) report(first, "cuid", "stands apart from the customer's other lines: sort the file by cuid");
  if (cuid !== "") seen.add(cuid);
  if (lines.length > MOST_LINES)
    report(lines.at(-1) as CsvLine, "cuid", `has more than ${MOST_LINES} lines: is it the same on all of them?`);
  const connections = new Map<string, CsvLine[]>();
  for (const each of lines) {
    const other = CUSTOMER_COLUMNS.find((column) => each.cells.get(column) !== cells.get(column));
    if (other !== undefined) report(each, other, "is another than on the customer's first line");
    const hasConnection = CONNECTION_COLUMNS.some((column) => each.cells.has(column));
    if (!hasConnection && lines.length > 1)
      report(each, "connection", "must not be empty where the customer has others");
    if (!hasConnection) continue;
    const service = SERVICES.find((known) => known === each.cells.get("service"));
    if (service === undefined) report(each, "service", `must be one of ${SERVICES.join(", ")}`);
    else connections.set(service, [...(connections.get(service) ?? []), each]);
  }
  if (problems.length > 0) {
    // Each under a name of its own, by which its place is found again.
    const named = problems.map(({ problem }, index) => ({ field: String(index), problem }));
    return {
      line,
      value: { ok: false, problems: named },
      locate: (field) => problems[Number(field)] as LocatedProblem,
    };
  }
  const value = objectOf({
    ...{ cuid: cells.get("cuid"), first_name: cells.get("first_name") ?? "", last_name: cells.get("last_name") ?? "" },
    ...{ mobile: cells.get("mobile"), status: cells.get("status"), asOf: cells.get("asOf") },
    connections: Object.fromEntries(
      [...connections].map(([service, list]) => [service, list.map((each) => connectionOf(each, service))]),
    ) as unknown as JsonObject,
  });
  return { line, value: { ok: true, value }, locate: (field) => locate(field, first, connections) };
}

interface LocatedProblem extends FieldProblem {
  readonly line: number;
}

function connectionOf({ cells, header }: CsvLine, service: string): JsonObject {
  const columns = SUBSCRIPTION_COLUMNS.map((column) => linesOf(cells.get(column)));
  const count = Math.max(...columns.map((list) => list.length));
  const subscriptions = Array.from({ length: count }, (_, index) =>
    objectOf(Object.fromEntries(SUBSCRIPTION_COLUMNS.map((name, at) => [name, columns[at]?.[index] || undefined]))),
  );
  return objectOf({
    [service === "tv" ? "stb" : "username"]: cells.get("connection"),
    ...{ status: cells.get("connection_status"), segment: cells.get("segment") },
    // A file without such columns says nothing of them, and they stay as they are.
    subscriptions: SUBSCRIPTION_COLUMNS.some((name) => header.includes(name)) ? subscriptions : undefined,
  });
}

const COLUMN_OF_CONNECTION: Readonly<Record<string, string>> = {
  stb: "connection",
  username: "connection",
  status: "connection_status",
};

/** The line and column in which the file has what the row calls, say, `connections.tv[1].subscriptions[0].code`. */
function locate(field: string, first: CsvLine, connections: ReadonlyMap<string, readonly CsvLine[]>) {
  const found = /^connections\.(\w+)\[(\d+)\]\.(subscriptions\[\d+\]\.)?(\w+)/.exec(field);
  if (found === null) return { line: first.line, field };
  const [, service = "", index, ofSubscription, name = ""] = found;
  const column = (ofSubscription === undefined ? COLUMN_OF_CONNECTION[name] : undefined) ?? name;
  return { line: connections.get(service)?.[Number(index)]?.line ?? first.line, field: column };
}

/** A row without what is undefined. */
function objectOf(fields: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject;
}
