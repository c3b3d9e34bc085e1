import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Server, startServer } from "../processes.ts";
import { ask, type Cluster, createDatabase } from "./cluster.ts";

const EXPRESS = fileURLToPath(new URL("../servers/express.mjs", import.meta.url));
const TABLES = readFileSync(new URL("../servers/express.sql", import.meta.url), "utf8");

/** An ordinary service with Express and pg, on tables of its own that hold as many customers. */
export async function startExpress(cluster: Cluster, token: string, customers: number): Promise<Server> {
  const url = await createDatabase(cluster.url, "bench_express");
  const hash = createHash("sha256").update(token).digest("hex");
  await ask(
    url,
    `SET bench.customers = ${customers}; ${TABLES};
     INSERT INTO access_tokens (token_hash, partner_id) VALUES ('\\x${hash}', 1)`,
  );
  await ask(url, "VACUUM ANALYZE");
  return startServer([EXPRESS], { DATABASE_URL: url });
}
