import { type Command, Option } from "commander";
import type { Environment } from "../../domain/customer.ts";
import type { Instant } from "../../domain/wall-time.ts";
import { exportCatalogue, exportCustomers, exportTransactions } from "../../services/staff/exports.ts";
import { addGroup, addStoreCommand, type Session } from "../command.ts";
import { CATALOGUE_HEADER, CUSTOMERS_HEADER, catalogueLine, csvText, customerLines, guardCell } from "../csv/cells.ts";
import { type FilterFlags, flags, isCsv, readFilter, STDIO } from "../options.ts";
import { stopSignal } from "../output/progress.ts";
import { isoTime, isoTimeOrNull } from "../output/text.ts";
import { showingOf, transactionJson } from "../output/transactions.ts";
import { CommandFailed, isFileError, type Runtime } from "../runtime.ts";

interface ExportFlags {
  readonly environment: Environment;
  readonly format?: string;
  readonly output?: string;
}

/** Some rows, as NDJSON and as CSV have them; or, at the end, up to when all was exported, where that can be said. */
type Page =
  | { readonly rows: readonly object[]; readonly csv: () => readonly (readonly string[])[] }
  | { readonly completeUntil: Instant };

interface Exported {
  readonly header: readonly string[];
  readonly pages: AsyncIterable<Page>;
}

/** `topupd export ...`: what an import reads, and the history of top-ups. */
export function addExportCommands(program: Command, runtime: Runtime): void {
  const group = addGroup(program, "export", "write catalogue, customers or transactions into a file");
  addExport(
    group,
    runtime,
    "catalogue",
    "what is sold, and what customers may still have",
    (session, { environment }) => ({
      header: CATALOGUE_HEADER,
      pages: (async function* () {
        const rows = await exportCatalogue(session, { environment });
        yield { rows, csv: () => rows.map(catalogueLine) };
      })(),
    }),
  );
  const customers = "all customers, in the form that import customers reads: plain records, without their history";
  addExport(group, runtime, "customers", customers, (session, { environment }) => ({
    header: CUSTOMERS_HEADER,
    pages: (async function* () {
      for await (const rows of exportCustomers(session, { environment }))
        yield { rows, csv: () => rows.flatMap(customerLines) };
    })(),
  }));
  const transactions =
    "all top-ups, or those that all flags fit, newest first, without those of the last minute; without a flag, complete_until is said at the end";
  addExport<ExportFlags & FilterFlags>(group, runtime, "transactions", transactions, (session, given) => ({
    header: TRANSACTIONS_HEADER,
    pages: transactionPages(session, given),
  }));
}

const TRANSACTIONS_HEADER = [
  ...["txnId", "checkoutId", "status", "partner", "environment", "cuid", "service", "reqId", "bouquetId"],
  ...["amount", "txnDate", "at", "udf1", "udf2", "reversedAt", "reversedBy", "reversalReason"],
];

/** Each as a list shows it, and how it was reversed; what does not hold is null. */
async function* transactionPages(session: Session, given: FilterFlags): AsyncGenerator<Page> {
  const filter = await readFilter(session.store, given);
  const showing = await showingOf(session.store, given.environment);
  const exported = exportTransactions(session, filter);
  let next = await exported.next();
  for (; next.done !== true; next = await exported.next()) {
    const rows: Record<string, string | null>[] = next.value.map(({ transaction, reversal }) => ({
      ...transactionJson(transaction, showing),
      ...{ reversedAt: isoTimeOrNull(reversal?.at), reversedBy: reversal?.author ?? null },
      reversalReason: reversal?.reason ?? null,
    }));
    yield { rows, csv: () => rows.map((row) => TRANSACTIONS_HEADER.map((name) => guardCell(row[name] ?? ""))) };
  }
  if (next.value !== undefined) yield { completeUntil: next.value };
}

function addExport<Flags extends ExportFlags>(
  parent: Command,
  runtime: Runtime,
  name: string,
  description: string,
  open: (session: Session, given: Flags) => Exported,
): void {
  addStoreCommand<Flags>(parent, runtime, {
    name,
    description,
    options: [
      ...(name === "transactions" ? flags.filter() : [flags.environment()]),
      new Option("--output <FILE>", "a new file, for its owner alone; if left out, or -, stdout"),
      flags.format("as the name of --output ends, else ndjson"),
    ],
    examples: [`topupd export ${name} --output ${name}.csv`],
    json: false,
    run: async (session, _, given) => write(runtime, open(session, given), given),
  });
}

async function write(runtime: Runtime, { header, pages }: Exported, given: ExportFlags): Promise<void> {
  const output = given.output === STDIO ? undefined : given.output;
  const csv = isCsv(given.format, output);
  const stop = output === undefined ? undefined : stopSignal(runtime);
  const said: string[] = [];
  let rows = 0;
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    if (csv) yield Buffer.from(csvText([header]));
    for await (const page of pages) {
      if (stop?.aborted === true) throw new CommandFailed(`stopped by ${String(stop.reason)}: ${output} was not made`);
      if ("completeUntil" in page) {
        const until = isoTime(page.completeUntil);
        if (csv) said.push(`complete_until ${until}\n`);
        else yield Buffer.from(`${JSON.stringify({ complete_until: until })}\n`);
        continue;
      }
      yield Buffer.from(csv ? csvText(page.csv()) : page.rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
      rows += page.rows.length;
    }
  };
  let isWhole = true;
  try {
    if (output === undefined) isWhole = await runtime.streamOut(pieces());
    else await runtime.writeFile(output, pieces(), { overwrite: false });
  } catch (error) {
    if (output === undefined || !isFileError(error)) throw error;
    if (error.code === "EEXIST") throw new CommandFailed(`${output} is there already: name another file`);
    throw new CommandFailed(`${output} cannot be written: ${error.message}`);
  }
  if (isWhole) runtime.stderr(`${rows} exported\n${said.join("")}`);
}
