import { createConnection } from "mysql2/promise";
import { inject } from "vitest";
import { startMariaDb } from "./mariadb.ts";
import { makeEmptyDatabase, withClient } from "./postgres-database.ts";

export type Row = Record<string, unknown>;

/** A server with one database that has FreeRADIUS's tables. */
export interface RadiusServer {
  readonly url: string;
  /** Of a database without these tables. */
  readonly otherUrl: string;
  readonly query: (sql: string) => Promise<Row[]>;
  close(): Promise<void>;
}

const TABLES = ["radcheck", "radreply", "radgroupcheck", "radgroupreply", "radusergroup", "radacct"];

/** Takes away what a test has written. */
export async function emptyTables({ query }: Pick<RadiusServer, "query">): Promise<void> {
  for (const table of TABLES) await query(`DELETE FROM ${table}`);
}

/** On the PostgreSQL that all tests share. */
export async function postgresForRadius(): Promise<RadiusServer> {
  const closing: (() => Promise<void>)[] = [];
  const { url, made } = makeEmptyDatabase(inject("postgresUrl"), (close) => closing.push(close));
  await made;
  const query = (sql: string) => withClient(url, async (client) => (await client.query(sql)).rows as Row[]);
  await makeTables("postgresql", query);
  const close = async () => {
    for (const each of closing) await each();
  };
  return { url, otherUrl: inject("postgresUrl"), query, close };
}

export async function mariaDbForRadius(): Promise<RadiusServer> {
  const server = await startMariaDb();
  const connection = await createConnection(server.url);
  const query = async (sql: string) => (await connection.query(sql))[0] as Row[];
  await query("CREATE DATABASE radius");
  await query("USE radius");
  await makeTables("mysql", query);
  const close = async () => {
    await connection.end();
    await server.close();
  };
  return { url: server.url.replace(/mysql$/, "radius"), otherUrl: server.url, query, close };
}

/** Makes FreeRADIUS's tables as far as logins need them, and radusergroup as it was before it had an id. */
export async function makeTables(
  dialect: "postgresql" | "mysql",
  query: (sql: string) => Promise<Row[]>,
): Promise<void> {
  const id = dialect === "postgresql" ? "id serial PRIMARY KEY" : "id int unsigned AUTO_INCREMENT PRIMARY KEY";
  const rest = "attribute varchar(64) NOT NULL, op char(2) NOT NULL, value varchar(253) NOT NULL";
  for (const [table, name] of [
    ["radcheck", "username"],
    ["radreply", "username"],
    ["radgroupcheck", "groupname"],
    ["radgroupreply", "groupname"],
  ])
    await query(`CREATE TABLE ${table} (${id}, ${name} varchar(64) NOT NULL, ${rest})`);
  await query("CREATE TABLE radusergroup (username varchar(64), groupname varchar(64), priority int NOT NULL)");
  const [address, time] = dialect === "postgresql" ? ["inet", "timestamptz"] : ["varchar(15)", "datetime"];
  await query(`CREATE TABLE radacct (radacct${id.replace("int unsigned", "bigint").replace("serial", "bigserial")},
    acctsessionid varchar(64) NOT NULL, acctuniqueid varchar(32) NOT NULL UNIQUE, username varchar(64), groupname varchar(64),
    nasipaddress ${address} NOT NULL, nasportid varchar(32), acctstarttime ${time}, acctupdatetime ${time},
    acctstoptime ${time}, calledstationid varchar(50), callingstationid varchar(50), framedipaddress ${address})`);
  await query("CREATE INDEX by_username ON radcheck (username)");
  await query("CREATE INDEX by_user ON radusergroup (username)");
}
