import { setTimeout as sleep } from "node:timers/promises";
import type { Device } from "../../radius/src/devices.ts";
import { attributesOf, openDevice, type Reply, refusedWith } from "../../radius/test/device.ts";
import type { Choices } from "./random.ts";

/** What routers do with a request to end a session; the first is the most frequent. */
const ROUTERS = {
  well: ["take"],
  late: ["take", "take late"],
  lossy: ["take", "take", "take", "lose the answer", "lose the answer", "be silent, and end it later"],
  refusing: ["take", "take", "refuse", "forget for a while"],
  dead: ["be silent"],
} as const;

type Kind = keyof typeof ROUTERS;

const SECRET = "s";
const ACCEPTED: Reply = { code: 41 };
const [REFUSED, UNKNOWN] = [refusedWith(506), refusedWith(503)];
const MOST_FAULTS = 2;
/** Longer than the wait before the first repeat. */
const LATE_MS = 1_500;
const REPORTED_EVERY_MS = 3_000;
/** A request that was not refused is confirmed or repeated as another packet after so long. */
const CONFIRMED_WITHIN_MS = 60_000;

/** A change of a user, which may end sessions until the user's next one. */
export interface Change {
  readonly what: string;
  readonly alters: boolean;
  /** Whether a session that begins after it must end too: there was none. */
  readonly isBeforeAny: boolean;
}

export interface User {
  readonly index: number;
  readonly name: string;
  readonly router: Kind;
  change: Change | undefined;
}

export interface Session {
  readonly id: string;
  readonly user: User;
  readonly begunIn: Change | undefined;
  /** Requests by port and bytes: equal ones are one (RFC 5176, section 2.3). */
  readonly packets: Map<string, Packet>;
  endedAt: number | undefined;
}

interface Packet {
  readonly change: Change | undefined;
  readonly at: number;
  readonly isRefused: boolean;
  readonly answer: Promise<Reply>;
}

/** Routers with sessions in radacct, which know whether they may be asked to end one. */
export class Routers {
  /** The first request that topupd does not promise. */
  failure: Error | undefined;
  readonly counts = { begun: 0, ended: 0, packets: 0, repeats: 0, refused: 0 };
  readonly #query: (sql: string) => Promise<unknown>;
  readonly #choices: Choices;
  readonly #sessions = new Map<string, Session>();
  readonly #closing: (() => void)[] = [];

  constructor(query: (sql: string) => Promise<unknown>, choices: Choices) {
    this.#query = query;
    this.#choices = choices;
  }

  /** @returns the devices of a target's configuration. */
  async open() {
    const devices: Record<string, Device> = {};
    for (const kind of Object.keys(ROUTERS) as Kind[]) {
      const { device, close } = await openDevice(SECRET, (request, port) =>
        this.#receive(kind, request, port).catch(this.#noteFailure),
      );
      this.#closing.push(close);
      devices[addressOf(kind)] = device;
    }
    return devices;
  }

  close(): void {
    for (const close of this.#closing) close();
  }

  async begin(user: User): Promise<Session> {
    this.counts.begun += 1;
    const id = `s${this.counts.begun}`;
    const session: Session = { id, user, begunIn: user.change, packets: new Map(), endedAt: undefined };
    this.#sessions.set(id, session);
    await this.#query(`INSERT INTO radacct (acctsessionid, acctuniqueid, username, nasipaddress, callingstationid)
      VALUES ('${id}', '${id}', '${user.name}', '${addressOf(user.router)}', '${id}')`);
    return session;
  }

  /** Ends a session as a user or an operator does. */
  async end(session: Session): Promise<void> {
    await this.#query(`UPDATE radacct SET acctstoptime = now() WHERE acctsessionid = '${session.id}'`);
    this.counts.ended += 1;
    session.endedAt = Date.now();
  }

  async endAllOf(users: readonly User[]): Promise<void> {
    for (const session of this.#sessions.values()) if (users.includes(session.user)) await this.end(session);
  }

  async #receive(kind: Kind, request: Buffer, port: number): Promise<Reply> {
    const id = attributesOf(request)[44] ?? "";
    const session = this.#sessions.get(id);
    if (session === undefined || session.user.router !== kind)
      return this.#fail(`${id} is no session of a ${kind} router`);
    const bytes = `${port} ${request.toString("base64")}`;
    const known = session.packets.get(bytes);
    if (known !== undefined) {
      this.counts.repeats += 1;
      return known.answer;
    }
    this.#judge(session);
    this.counts.packets += 1;
    const chosen = this.#choices.of<string>(ROUTERS[kind]);
    // After the third attempt topupd waits for minutes.
    const act = kind !== "dead" && session.packets.size >= MOST_FAULTS ? "take" : chosen;
    const isRefused = act === "refuse" || act.startsWith("forget");
    const answer = this.#answer(act, session);
    session.packets.set(bytes, { change: session.user.change, at: Date.now(), isRefused, answer });
    if (isRefused) this.counts.refused += 1;
    const reply = await answer;
    return act === "lose the answer" ? undefined : reply;
  }

  /**
   * What topupd promises: for a change, a session is asked for once, repeats of the packet aside. It is asked for again only
   * while it is open, after a refusal or a minute.
   */
  #judge({ id, user, begunIn, packets, endedAt }: Session): void {
    const { change } = user;
    const last = [...packets.values()].at(-1);
    const isAgain = last !== undefined && last.change === change;
    const name = `session ${id} of ${user.name} at a ${user.router} router`;
    if (endedAt !== undefined && user.router !== "dead") this.#fail(`${name} was to end after its end`);
    if (change?.alters !== true) this.#fail(`${name} was to end after ${change?.what ?? "no change"}`);
    else if (begunIn === change && !change.isBeforeAny)
      this.#fail(`${name} was to end, but began after the change (${change.what})`);
    if (isAgain && !last.isRefused && Date.now() - last.at < CONFIRMED_WITHIN_MS)
      this.#fail(`${name} was to end twice, ${Date.now() - last.at} ms apart, for one change (${change?.what})`);
  }

  async #answer(act: string, session: Session): Promise<Reply> {
    if (act === "be silent") return undefined;
    if (act === "refuse") return REFUSED;
    if (act.startsWith("forget")) {
      this.#report(session).catch(this.#noteFailure);
      return UNKNOWN;
    }
    if (act.startsWith("be silent")) {
      sleep(REPORTED_EVERY_MS)
        .then(() => this.end(session))
        .catch(this.#noteFailure);
      return undefined;
    }
    if (act === "take late") await sleep(LATE_MS);
    await this.end(session);
    return ACCEPTED;
  }

  /** Knows the session again, and reports it as long as it goes on. */
  async #report(session: Session): Promise<void> {
    for (await sleep(REPORTED_EVERY_MS); session.endedAt === undefined; await sleep(REPORTED_EVERY_MS))
      await this.#query(`UPDATE radacct SET acctupdatetime = now() WHERE acctsessionid = '${session.id}'`);
  }

  readonly #noteFailure = (error: Error): undefined => {
    this.failure ??= error;
  };

  #fail(what: string): undefined {
    this.#noteFailure(new Error(what));
  }
}

function addressOf(kind: Kind): string {
  return `10.0.0.${1 + Object.keys(ROUTERS).indexOf(kind)}`;
}
