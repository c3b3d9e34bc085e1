import type { TestProject } from "vitest/node";
import { startPostgres } from "./postgres-server.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Of a superuser, to a database of the server that the tests share. */
    postgresUrl: string;
  }
}

/** One server for the whole run, unless `TEST_POSTGRES` names one. */
export default async function setUp(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const setting = process.env["TEST_POSTGRES"] ?? "";
  if (/^postgres(ql)?:\/\//.test(setting)) {
    project.provide("postgresUrl", setting);
    return undefined;
  }
  if (!["", "embedded"].includes(setting)) {
    throw new Error(`TEST_POSTGRES must be "embedded" or the URL of a server (postgres://...), not "${setting}"`);
  }
  const server = await startPostgres();
  project.provide("postgresUrl", server.url);
  return () => server.close();
}
