import { type Command, Option } from "commander";
import type { Instant } from "../../domain/wall-time.ts";
import { exportCatalogue, exportCustomers, exportTransactions } from "../../services/staff/exports.ts";
import { addGroup, addStoreCommand, type Session } from "../command.ts";
import {
  CATALOGUE_HEADER,
  CUSTOMERS_HEADER,
  catalogueLine,
  csvText,
  customerLines,
  guardCell,
} from "../csv/writing.ts";
import { type FilterFlags, flags, isCsv, readFilter, STDIO } from "../options.ts";
import { isoTime, isoTimeOrNull } from "../output/text.ts";
import { showingOf, transactionJson } from "../output/transactions.ts";
import { type Runtime, withFile } from "../runtime.ts";

/** Some rows, as NDJSON and as CSV have them; or, at the end, up to when all was exported, where that can be said. */
type Page =
  | { readonly rows: readonly object[]; readonly csv: () => readonly (readonly string[])[] }
  | { readonly completeUntil: Instant };

interface Export<Flags> {
  readonly name: string;
  readonly description: string;
  readonly options: readonly Option[];
  readonly header: readonly string[];
  readonly pages: (session: Session, given: Flags) => AsyncIterable<Page>;
}

/** `topupd export ...`: what an import reads, and the history of top-ups. */
export function addExportCommands(program: Command, runtime: Runtime): void {
  const group = addGroup(program, "export", "write catalogue, customers or transactions into a file");
  addExport<Pick<FilterFlags, "environment">>(group, runtime, {
    name: "catalogue",
    description: "what is sold, and what customers may still have",
    options: [flags.environment()],
    header: CATALOGUE_HEADER,
    async *pages(session, { environment }) {
      const rows = await exportCatalogue(session, { environment });
      yield { rows, csv: () => rows.map(catalogueLine) };
    },
  });
  addExport<Pick<FilterFlags, "environment">>(group, runtime, {
    name: "customers",
    description: "all customers, in the form that import customers reads: plain records, without their history",
    options: [flags.environment()],
    header: CUSTOMERS_HEADER,
    async *pages(session, { environment }) {
      for await (const rows of exportCustomers(session, { environment }))
        yield { rows, csv: () => rows.flatMap(customerLines) };
    },
  });
  addExport<FilterFlags>(group, runtime, {
    name: "transactions",
    description:
      "all top-ups, or those that all flags fit, newest first, without those of the last minute; without a flag, complete_until is said at the end",
    options: flags.filter(),
    header: TRANSACTIONS_HEADER,
    pages: transactionPages,
  });
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

function addExport<Flags extends object>(
  parent: Command,
  runtime: Runtime,
  { name, description, options, header, pages }: Export<Flags>,
): void {
  const file = "a new file, for its owner alone: CSV if it ends in .csv, else NDJSON (default: -, stdout)";
  addStoreCommand<Flags & { readonly output?: string }>(parent, runtime, {
    name,
    description,
    options: [...options, new Option("--output <FILE>", file)],
    examples: [`topupd export ${name} --output ${name}.csv`],
    json: false,
    run: (session, _, given) => write(runtime, header, pages(session, given), given.output),
  });
}

async function write(
  runtime: Runtime,
  header: readonly string[],
  pages: AsyncIterable<Page>,
  output: string | undefined,
): Promise<void> {
  const csv = isCsv(output);
  let summary = "";
  let rows = 0;
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    if (csv) yield Buffer.from(csvText([header]));
    for await (const page of pages) {
      if ("completeUntil" in page) {
        const until = isoTime(page.completeUntil);
        if (csv) summary = `complete_until ${until}\n`;
        else yield Buffer.from(`${JSON.stringify({ complete_until: until })}\n`);
        continue;
      }
      yield Buffer.from(csv ? csvText(page.csv()) : page.rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
      rows += page.rows.length;
    }
  };
  if (output === undefined || output === STDIO) {
    // A reader who has seen enough is told nothing more.
    if (!(await runtime.streamOut(pieces()))) return;
  } else await withFile(output, "be written", () => runtime.writeFile(output, pieces(), { overwrite: false }));
  runtime.stderr(`${rows} exported\n${summary}`);
}
