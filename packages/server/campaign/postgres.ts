import pg from "pg";
import { openPostgresStore } from "../src/store/postgres/open.ts";
import type { OpenOptions } from "../test/support/open-service.ts";

/** Makes an empty database on a server. @returns its URL. */
export async function createDatabase(server: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
  } finally {
    await client.end();
  }
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
