import { arch, cpus, release, totalmem, type } from "node:os";
import { DatabaseSync } from "@photostructure/sqlite";
import { loadGenerator } from "./load.ts";

/** The machine of a measurement: names and values. */
export type Machine = readonly (readonly [name: string, value: string])[];

export async function describeMachine(): Promise<Machine> {
  const { name, version } = loadGenerator();
  const processors = cpus();
  return [
    ["Processor", `${processors[0]?.model.trim() ?? arch()}, ${processors.length} cores`],
    ["Memory", `${(totalmem() / 2 ** 30).toFixed(1)} GiB`],
    ["Kernel", `${type()} ${release()}`],
    ["Node.js", process.version],
    ["SQLite", sqliteVersion()],
    ["Load by", `${name} ${await version()}`],
  ];
}

function sqliteVersion(): string {
  const database = new DatabaseSync(":memory:");
  try {
    return (database.prepare("SELECT sqlite_version() AS version").get() as { version: string }).version;
  } finally {
    database.close();
  }
}
