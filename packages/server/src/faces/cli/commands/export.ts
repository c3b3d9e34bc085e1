import { type Command, Option } from "commander";
import { CUSTOMERS_HEADER, customerLines } from "../../../csv/writing.ts";
import type { Environment } from "../../../domain/customer.ts";
import { exportCustomers } from "../../../services/staff/exports.ts";
import { addStoreCommand, groupNamed, type Session } from "../command.ts";
import { writeExport } from "../exporting.ts";
import { flags } from "../options.ts";
import type { Runtime } from "../runtime.ts";

interface EnvironmentFlag {
  readonly environment: Environment;
}

type Pages = Parameters<typeof writeExport>[2];

interface Export<Flags> {
  readonly name: string;
  readonly description: string;
  readonly options: readonly Option[];
  readonly header: readonly string[];
  readonly pages: (session: Session, given: Flags) => Pages;
}

/** `topupd export ...`: what an import reads, and the history of top-ups. */
export function addExportCommands(program: Command, runtime: Runtime): void {
  const group = groupNamed(program, "export");
  addExport<EnvironmentFlag>(group, runtime, {
    name: "customers",
    description: "all customers, in the form that import customers reads: plain records, without their history",
    options: [flags.environment()],
    header: CUSTOMERS_HEADER,
    async *pages(session, { environment }) {
      for await (const rows of exportCustomers(session, { environment }))
        yield { rows, csv: () => rows.flatMap(customerLines) };
      return undefined;
    },
  });
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
    run: (session, _, given) => writeExport(runtime, header, pages(session, given), given.output),
  });
}
