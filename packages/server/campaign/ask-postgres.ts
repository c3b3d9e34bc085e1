import pg from "pg";

/** Runs one statement on a session of its own. @returns its rows. */
export async function askPostgres(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  // A server that ends the session fails what is asked.
  client.on("error", () => {});
  try {
    await client.connect();
    return (await client.query(sql)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}
