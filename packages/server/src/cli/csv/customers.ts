import { SERVICES } from "../../domain/bouquet.ts";
import type { FieldProblem } from "../../domain/fields.ts";
import { JsonSyntaxError, readJson } from "../../domain/json.ts";
import type { SourceRow } from "../../operations/source-rows.ts";
import { CONNECTION_COLUMNS, CUSTOMER_COLUMNS, SUBSCRIPTION_COLUMNS } from "./cells.ts";
import { type CsvLine, flagOf, linesOf, objectOf, readCsvLines } from "./reading.ts";

/**
 * Far more connections than anybody has, and about as many as a line of NDJSON holds: the lines of a customer are
 * held together, and then laid over what is stored, in one transaction.
 */
const MOST_LINES = 5_000;

/**
 * The customers of a CSV file: a line for each connection, those of a customer together. A customer that stood in
 * two places would be two statements, the second without the connections of the first; that is refused, and for
 * that the cuids are kept.
 */
export async function* readCustomersCsv(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<readonly SourceRow[]> {
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
    const service = each.cells.get("service");
    const hasConnection = CONNECTION_COLUMNS.some((column) => each.cells.has(column));
    if (!hasConnection && lines.length > 1)
      report(each, "connection", "must not be empty where the customer has others");
    if (!hasConnection) continue;
    if (!SERVICES.some((known) => known === service)) {
      report(each, "service", `must be one of ${SERVICES.join(", ")}`);
      continue;
    }
    const list = connections.get(service as string);
    if (list === undefined) connections.set(service as string, [each]);
    else list.push(each);
  }
  if (problems.length > 0) {
    // Each under a name of its own, by which its place is found again.
    const named = problems.map(({ problem }, index) => ({ field: String(index), problem }));
    const locate = (field: string) => problems[Number(field)] as LocatedProblem;
    return { line, value: { ok: false, problems: named }, locate };
  }
  const value = objectOf({
    ...{ cuid: cells.get("cuid"), first_name: cells.get("first_name") ?? "", last_name: cells.get("last_name") ?? "" },
    ...{ mobile: cells.get("mobile"), status: cells.get("status") },
    connections: objectOf(
      Object.fromEntries(
        [...connections].map(([service, list]) => [service, list.map((each) => connectionOf(each, service))]),
      ),
    ),
  });
  return { line, value: { ok: true, value }, locate: (field) => locate(field, first, connections) };
}

interface LocatedProblem extends FieldProblem {
  readonly line: number;
}

function connectionOf({ cells }: CsvLine, service: string) {
  const columns = SUBSCRIPTION_COLUMNS.map((column) => linesOf(cells.get(column)));
  const [codes = [], starts = [], ends = [], carried = []] = columns;
  const count = Math.max(...columns.map((list) => list.length));
  const cell = (list: readonly string[], index: number) => (list[index] === "" ? undefined : list[index]);
  const subscriptions = Array.from({ length: count }, (_, index) =>
    objectOf({
      ...{ code: cell(codes, index), startdate: cell(starts, index), enddate: cell(ends, index) },
      carried: jsonOf(cell(carried, index)),
    }),
  );
  return objectOf({
    [service === "tv" ? "stb" : "username"]: cells.get("connection"),
    ...{ status: cells.get("connection_status"), segment: cells.get("segment") },
    ...{ topped_up: flagOf(cells.get("topped_up")), blocked_by_staff: flagOf(cells.get("blocked_by_staff")) },
    subscriptions,
  });
}

/** What is no JSON stays a text, which is no object. */
function jsonOf(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return readJson(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return text;
    throw error;
  }
}

/** The line and column in which the file has what the row calls, say, `connections.tv[1].subscriptions[0].code`. */
function locate(field: string, first: CsvLine, connections: ReadonlyMap<string, readonly CsvLine[]>) {
  const found = /^connections\.(\w+)\[(\d+)\]\.(?:subscriptions\[\d+\]\.)?(\w+)/.exec(field);
  if (found === null) return { line: first.line, field };
  const [, service = "", index, name = ""] = found;
  const isOfConnection = !field.includes(".subscriptions[");
  const columns: Readonly<Record<string, string>> = {
    stb: "connection",
    username: "connection",
    status: "connection_status",
  };
  const column = (isOfConnection ? columns[name] : undefined) ?? name;
  return { line: connections.get(service)?.[Number(index)]?.line ?? first.line, field: column };
}
