import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { countOpenFiles } from "../src/open-files.ts";
import { WAITS } from "../src/store/postgres/session/session.ts";
import { BoundedClient, type Patience, withinBound } from "./bounded-client.ts";
import type { Ground } from "./ground.ts";
import { isReady, type Served, startServing } from "./processes.ts";
import type { RoundPlan } from "./session-plan.ts";
import { SessionProxy } from "./session-proxy.ts";
import type { SessionStaff } from "./session-staff.ts";

/** Of each process: few, so that a handful of lost ones is all of them. */
const CONNECTIONS = 4;
/** And one on which it watches. */
const SESSIONS = CONNECTIONS + 1;

/**
 * After the trouble a process may still wait for an answer that does not come, and then for a session, which it first
 * connects and sets up; and whatever a session has left in PostgreSQL ends with its statement or its lock. All of that
 * one after the other, and twice as long for a busy machine.
 */
const WELL_WITHIN_MS = 2 * (WAITS.answer + WAITS.session + WAITS.connecting + WAITS.statement + WAITS.lock);

/** What partners' own connections and the pool may add to what was open at first; a session that leaks adds to it each time. */
const MORE_FILES = 64;
const MORE_MEMORY_KB = 300_000;

/** Of what processes that are not well have said. */
const LINES_SHOWN = 20;

interface Size {
  readonly files: number;
  readonly memoryKb: number;
}

interface Member {
  readonly served: Served;
  readonly proxy: SessionProxy;
  first?: Size;
}

/** The processes, each behind a proxy of its own. */
export class SessionFleet {
  readonly clients: readonly BoundedClient[];
  readonly #members: readonly Member[];
  readonly #staff: SessionStaff;

  static async start(
    ground: Required<Ground>,
    { token, processes, staff, patience }: FleetOptions,
  ): Promise<SessionFleet> {
    const members: Member[] = [];
    for (let index = 0; index < processes; index += 1) {
      const proxy = await SessionProxy.start(ground.database, (port, how) => staff.endBackend(port, how));
      const words = ["--database-connections", `${CONNECTIONS}`];
      const served = await startServing(words, { cwd: ground.cwd, env: { TOPUPD_DATABASE: proxy.url } });
      members.push({ served, proxy });
    }
    const clients = members.map(({ served }) => new BoundedClient(served.url, token, patience));
    return new SessionFleet(members, clients, staff);
  }

  private constructor(members: readonly Member[], clients: readonly BoundedClient[], staff: SessionStaff) {
    this.#members = members;
    this.clients = clients;
    this.#staff = staff;
  }

  /** What was done so far to sessions, and how often. */
  get done(): ReadonlyMap<string, number> {
    const all = new Map<string, number>();
    for (const { proxy } of this.#members)
      for (const [what, times] of proxy.done) all.set(what, (all.get(what) ?? 0) + times);
    return all;
  }

  /** Makes the trouble that is planned, and lets it end. */
  async trouble({ faults, staff }: RoundPlan, lastsMs: number): Promise<void> {
    const timers = faults.map(({ atMs, process, fault }) =>
      setTimeout(() => this.#members[process]?.proxy.arm(fault), atMs),
    );
    try {
      const ends = sleep(lastsMs);
      for (const { pauseMs, deed } of staff) {
        await sleep(pauseMs);
        await this.#staff.do(deed);
      }
      await ends;
    } finally {
      for (const timer of timers) clearTimeout(timer);
      for (const { proxy } of this.#members) proxy.heal();
    }
  }

  /**
   * Waits until all is as if there had been no trouble.
   * @returns after how many milliseconds. @throws Error where that takes longer than it may.
   */
  async untilWell(): Promise<number> {
    const begun = performance.now();
    for (;;) {
      const wrong = await this.#findWrong();
      const ms = performance.now() - begun;
      if (wrong === undefined) return ms;
      if (ms > WELL_WITHIN_MS) throw new Error(`after ${Math.round(ms)} ms: ${wrong}\n${this.#said()}`);
      await sleep(50);
    }
  }

  /** Asked of every process, in trouble as well: whether it lives is not for PostgreSQL to say. */
  async expectAlive(): Promise<void> {
    for (const { served } of this.#members) {
      const { status } = await withinBound("/healthz", fetch(`${served.url}/healthz`));
      if (status !== 200) throw new Error(`/healthz is ${status}\n${this.#said()}`);
      await withinBound("/readyz", isReady(served.url));
    }
  }

  /** @throws Error where a process has grown since it was measured first. */
  measure(): void {
    for (const member of this.#members) {
      const size = sizeOf(member.served.process.pid);
      if (size === undefined) return;
      member.first ??= size;
      const { files, memoryKb } = member.first;
      if (size.files > files + MORE_FILES || size.memoryKb > memoryKb + MORE_MEMORY_KB)
        throw new Error(`a process has grown from ${JSON.stringify(member.first)} to ${JSON.stringify(size)}`);
    }
  }

  async end(): Promise<void> {
    await Promise.all(this.#members.map(({ served }) => served.end("SIGTERM")));
    await Promise.all(this.#members.map(({ proxy }) => proxy.close()));
  }

  async #findWrong(): Promise<string | undefined> {
    for (const { served, proxy } of this.#members) {
      // As many as there are sessions, so that none is left out for long.
      const asked = Array.from({ length: CONNECTIONS }, () => withinBound("/readyz", isReady(served.url)));
      if ((await Promise.all(asked)).includes(false)) return "a process is not ready";
      const hanging = proxy.countHanging();
      if (hanging > 0) return `a process holds on to ${hanging} sessions from which nothing will come`;
    }
    const { all, inTransaction } = await this.#staff.countSessions();
    if (inTransaction > 0) return `${inTransaction} sessions of PostgreSQL are in a transaction`;
    return all > SESSIONS * this.#members.length ? `PostgreSQL has ${all} sessions` : undefined;
  }

  #said(): string {
    const lines = this.#members.flatMap(({ served }) => served.stderr().split("\n"));
    return lines
      .filter((line) => line !== "" && !line.startsWith('{"level":"info"'))
      .slice(-LINES_SHOWN)
      .join("\n");
  }
}

export interface FleetOptions {
  readonly token: string;
  readonly processes: number;
  readonly staff: SessionStaff;
  readonly patience: Patience;
}

/** @returns undefined where the system does not say. */
function sizeOf(pid: number | undefined): Size | undefined {
  const folder = `/proc/${pid}`;
  const files = countOpenFiles(folder)?.open;
  if (files === undefined) return undefined;
  const memoryKb = Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`${folder}/status`, "utf8"))?.[1]);
  return { files, memoryKb };
}
