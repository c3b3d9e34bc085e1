import pg from "pg";
import { openPostgresStore } from "../src/store/postgres/open.ts";
import type { OpenOptions } from "../test/support/open-service.ts";

/** Asks something of a server, on a session of its own. */
async function askPostgres(server: string, question: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: server });
  // A server that ends the session fails what is asked of it.
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(question)).rows;
  } finally {
    await client.end();
  }
}

/** Makes an empty database on a server. @returns its URL. */
export async function createDatabase(server: string, name: string): Promise<string> {
  await askPostgres(server, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** Gives each story of the model a database of its own on the server. */
export function postgresStories(server: string, prefix: string): () => Pick<OpenOptions, "openStore"> {
  let story = 0;
  return () => {
    story += 1;
    const created = createDatabase(server, `${prefix}_${story}`);
    return { openStore: async (options) => openPostgresStore({ ...options, url: await created, connections: 4 }) };
  };
}
