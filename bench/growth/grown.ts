import { mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { runTopupd } from "../processes.ts";
import { writeFiles } from "../world.ts";
import { writeCustomers } from "./customers.ts";
import { appendHistory, type History } from "./history.ts";
import { type Imported, importCustomers } from "./import.ts";

/** A provider's database as it is after some time, and how it came to be. */
export interface Grown {
  readonly folder: string;
  /** Of production. */
  readonly token: string;
  readonly imported: Imported;
  readonly history: History;
  readonly fileMiB: number;
}

const PARTNER = "bench";

/**
 * Makes a database in a folder of its own: by the command line, but for its past.
 * @param days in which all of the past was; undefined for as many as is usual.
 */
export async function growDatabase(folder: string, customers: number, days?: number): Promise<Grown> {
  mkdirSync(folder);
  const inFolder = { cwd: folder };
  await runTopupd(["partner", "add", PARTNER], inFolder);
  // Of the two files that this writes, the catalogue is wanted.
  await writeFiles(folder, 0);
  await runTopupd(["import", "catalogue", join(folder, "catalogue.ndjson")], inFolder);
  const issue = ["token", "issue", "--partner", PARTNER, "--environment", "production"];
  const token = (await runTopupd(issue, inFolder)).trim();

  const file = join(folder, "customers.ndjson");
  await writeCustomers(file, customers);
  const imported = await importCustomers(folder, file, customers);
  rmSync(file);

  const path = join(folder, "topupd.db");
  const history = await appendHistory(path, customers, days);
  return { folder, token, imported, history, fileMiB: statSync(path).size / 1024 / 1024 };
}

/** @throws Error where the database is not in order: what is measured on such a one says nothing. */
export async function checkDatabase({ folder }: Grown): Promise<void> {
  await runTopupd(["check"], { cwd: folder });
}
