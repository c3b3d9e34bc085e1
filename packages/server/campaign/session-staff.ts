import { setTimeout as sleep } from "node:timers/promises";
import { askPostgres } from "./postgres.ts";
import type { StaffDeed } from "./session-plan.ts";
import type { RestartableServer } from "./storm.ts";

/** A server with the URL of a superuser. */
export interface OwnServer extends RestartableServer {
  readonly url: string;
}

export interface SessionCount {
  readonly all: number;
  readonly inTransaction: number;
}

/** Who may do to PostgreSQL what topupd may not. */
export class SessionStaff {
  readonly #server: OwnServer;
  readonly #role: string;

  /** @param role which topupd has, and nobody else. */
  constructor(server: OwnServer, role: string) {
    this.#server = server;
    this.#role = role;
  }

  async do(deed: StaffDeed): Promise<void> {
    switch (deed.kind) {
      case "restart":
        await this.#server.stop(deed.mode);
        await sleep(deed.ms);
        await this.#server.start();
        return;
      case "limit":
        await this.#ask(`ALTER ROLE ${this.#role} CONNECTION LIMIT ${deed.sessions}`);
        // Those that are there may stay, whatever the limit.
        await this.do({ kind: "terminate", whose: "all" });
        await sleep(deed.ms);
        await this.#ask(`ALTER ROLE ${this.#role} CONNECTION LIMIT -1`);
        return;
      case "cancel":
        await this.#ask(`SELECT pg_cancel_backend(pid) FROM (${this.#sessions("busy")}) AS theirs`);
        return;
      case "terminate":
        await this.#ask(`SELECT pg_terminate_backend(pid) FROM (${this.#sessions(deed.whose)}) AS theirs`);
    }
  }

  /** Ends one session, or what it is at, unless the server itself is away. */
  endBackend(port: number, how: "terminate" | "cancel"): void {
    this.#ask(`SELECT pg_${how}_backend(pid) FROM pg_stat_activity WHERE client_port = ${port}`).catch(() => {});
  }

  async countSessions(): Promise<SessionCount> {
    const rows = await this.#ask(`SELECT count(*)::int AS all, count(*) FILTER (WHERE xact_start IS NOT NULL)::int AS in
      FROM pg_stat_activity WHERE usename = '${this.#role}'`);
    const [count] = rows as [{ all: number; in: number }];
    return { all: count.all, inTransaction: count.in };
  }

  #sessions(whose: "all" | "busy" | "one"): string {
    const busy = whose === "busy" ? "AND state <> 'idle'" : "";
    const limit = whose === "one" ? "LIMIT 1" : "";
    return `SELECT pid FROM pg_stat_activity WHERE usename = '${this.#role}' ${busy} ORDER BY pid ${limit}`;
  }

  #ask(question: string): Promise<unknown[]> {
    return askPostgres(this.#server.url, question);
  }
}
