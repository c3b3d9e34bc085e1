import { sql } from "kysely";
import { type ConnectionOptions, type RadiusAddress, RadiusDatabase } from "./database.ts";

/** An open session of a user, by its row in radacct. */
export interface Session {
  readonly id: number;
  /** User-Name as its device reported it: a database may find it by a name in other case. */
  readonly username: string;
  /** Acct-Session-Id. */
  readonly sessionId: string;
  /** Address of the device, as it names itself. */
  readonly device: string;
  /** Framed-IP-Address; undefined if there is none. */
  readonly framedAddress: string | undefined;
  /** Calling-Station-Id; undefined if there is none. */
  readonly caller: string | undefined;
}

export interface SessionState {
  readonly id: number;
  /** Whether it has a stop, or a newer session of its user has its device and caller. */
  readonly ended: boolean;
  /** When the device last reported it, as the database writes times; undefined if never. */
  readonly reportedAt: string | undefined;
}

/** MySQL and MariaDB may write the zero date for an open session. No stop is so old. */
const isOpen = (stop: "acctstoptime" | "s.acctstoptime") =>
  sql<boolean>`(${sql.ref(stop)} is null or ${sql.ref(stop)} < '1971-01-01')`;

/** The accounting of FreeRADIUS (radacct). No times are compared: they may follow the clocks of devices. */
export class RadiusSessions {
  readonly #database: RadiusDatabase;

  constructor(address: RadiusAddress, options: ConnectionOptions) {
    this.#database = new RadiusDatabase(address, options);
  }

  /** The open sessions of some users, oldest first. @param usernames at most 1,000. */
  async open(usernames: readonly string[], signal?: AbortSignal): Promise<Session[]> {
    if (usernames.length === 0) return [];
    const query = this.#database.build
      .selectFrom("radacct")
      .select(["radacctid", "username", "acctsessionid", "nasipaddress", "framedipaddress", "callingstationid"])
      .where(this.#isOf(usernames))
      .where(isOpen("acctstoptime"))
      .orderBy("radacctid")
      .compile();
    return (await this.#database.ask(query, signal)).map((row) => ({
      id: Number(row.radacctid),
      username: row.username,
      sessionId: row.acctsessionid,
      device: row.nasipaddress,
      framedAddress: row.framedipaddress || undefined,
      caller: row.callingstationid || undefined,
    }));
  }

  /** The states of sessions; a session without a row has ended. @param ids at most 1,000. */
  async states(ids: readonly number[], signal?: AbortSignal): Promise<SessionState[]> {
    if (ids.length === 0) return [];
    const query = this.#database.build
      .selectFrom("radacct as s")
      .select((eb) => [
        "s.radacctid as id",
        isOpen("s.acctstoptime").as("isOpen"),
        sql<string | null>`cast(${eb.ref("s.acctupdatetime")} as char(30))`.as("reportedAt"),
        eb
          .selectFrom("radacct as n")
          .select("n.radacctid")
          // Others may call from the same place. The name also has an index.
          .whereRef("n.username", "=", "s.username")
          .whereRef("n.radacctid", ">", "s.radacctid")
          .whereRef("n.nasipaddress", "=", "s.nasipaddress")
          .whereRef("n.callingstationid", "=", "s.callingstationid")
          .where("n.callingstationid", "<>", "")
          .limit(1)
          .as("newer"),
      ])
      .where("s.radacctid", "in", ids)
      .compile();
    const rows = new Map((await this.#database.ask(query, signal)).map((row) => [Number(row.id), row]));
    return ids.map((id) => {
      const row = rows.get(id);
      const ended = row === undefined || !row.isOpen || row.newer !== null;
      return { id, ended, reportedAt: row?.reportedAt?.trimEnd() };
    });
  }

  /** MySQL and MariaDB ignore case. On PostgreSQL, FreeRADIUS can be set to. */
  #isOf(usernames: readonly string[]) {
    if (this.#database.engine === "mysql") return sql<boolean>`username in (${sql.join(usernames)})`;
    const lower = usernames.map((username) => sql`lower(${username})`);
    return sql<boolean>`lower(username) in (${sql.join(lower)})`;
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}
