import { type Command, Option } from "commander";
import { exportedTransaction, TRANSACTIONS_HEADER, transactionCells } from "../../csv/transactions.ts";
import { CATALOGUE_HEADER, CUSTOMERS_HEADER, catalogueLine, csvText, customerLines } from "../../csv/writing.ts";
import type { Instant } from "../../domain/wall-time.ts";
import { exportCatalogue, exportCustomers, exportTransactions } from "../../services/staff/exports.ts";
import { showingOf } from "../../services/staff/showing.ts";
import { addGroup, addStoreCommand, type Session } from "../command.ts";
import { type FilterFlags, flags, isCsv, readFilter, STDIO } from "../options.ts";
import { isoTime } from "../output/text.ts";
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

async function* transactionPages(session: Session, given: FilterFlags): AsyncGenerator<Page> {
  const filter = await readFilter(session.store, given);
  const showing = await showingOf(session.store, given.environment);
  const exported = exportTransactions(session, filter);
  let next = await exported.next();
  for (; next.done !== true; next = await exported.next()) {
    const rows = next.value.map((each) => exportedTransaction(each, showing));
    yield { rows, csv: () => rows.map(transactionCells) };
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
