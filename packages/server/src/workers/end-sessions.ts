import { foldName } from "../domain/names.ts";
import { portionsOf } from "../domain/portions.ts";
import {
  answerSession,
  askSession,
  type DueUser,
  NEVER,
  type NotedSession,
  noteSessions,
  type RadiusSession,
  type SessionAnswer,
  type SessionTools,
  seeSessions,
  sessionsToAsk,
} from "../domain/sessions.ts";
import type { Target } from "../domain/target.ts";
import type { Outbox } from "../store/outbox.ts";
import type { SessionsDue } from "../store/sessions-due.ts";
import type { DeliveryObserver } from "./delivery-observer.ts";
import { failureLog, Lease, startRepeating, type Worker, type WorkerPorts } from "./worker.ts";

export interface SessionPorts extends WorkerPorts {
  readonly store: { readonly outbox: Outbox; readonly sessionsDue: SessionsDue };
  /** Returns this many bytes that cannot be guessed. */
  readonly random: (bytes: number) => Uint8Array;
  readonly createSessionTools: (target: Target) => SessionTools;
  /** Undefined: no metrics. */
  readonly observer?: Pick<DeliveryObserver, "stepEnded"> | undefined;
}

/** How often processes without the lease ask for it. */
const TAKEN_EVERY_MS = 5_000;
const LOOKED_EVERY_MS = 250;
const TARGETS_READ_EVERY_MS = 1_000;
/** How often radacct is asked whether sessions have ended, or one has appeared. */
const SEEN_EVERY_MS = 1_000;
/** Most sessions end at once, so radacct is asked in each round for a moment. */
const FRESH_MS = 3_000;
/** Users that one statement names, and those whose sessions one names: radacct is asked for at most 1,000. */
const AT_ONCE = 1_000;
const USERS_AT_ONCE = 250;
/** Users whom one round looks at. */
const MOST_SEEN = 5_000;
/** Users in memory are found again after this time. After a kill, the next process reads all. */
const HELD_MS = 60_000;
/** Requests to one device: the others wait without being noted as asked. */
const MOST_ASKED = 8;

/** Ends the sessions of users whom a delivered event altered. One process at a time does this. */
export function startEndingSessions(ports: SessionPorts): Worker {
  const logFailure = failureLog(ports);
  return startRepeating(ports, {
    everyMs: TAKEN_EVERY_MS,
    failure: "sessions end late",
    // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: its steps share the targets of one lease
    async work(stopping) {
      const lease = new Lease(ports.store.outbox, ports, "sessions");
      if (!(await lease.take())) return;
      const ending = new Map<string, Ending>();
      let readAt = -Infinity;
      try {
        while (!stopping.aborted && (await lease.renew())) {
          if (ports.stopwatch() - readAt >= TARGETS_READ_EVERY_MS) {
            readAt = ports.stopwatch();
            const targets = (await ports.store.outbox.targets()).filter(isServed);
            const wanted = new Map(targets.map((target) => [JSON.stringify([target.id, target.config]), target]));
            for (const [described, each] of ending)
              if (!wanted.has(described)) {
                ending.delete(described);
                await each.close();
              }
            for (const [described, target] of wanted)
              if (!ending.has(described)) ending.set(described, new Ending(target, ports, lease));
          }
          // A database that hangs holds up no other target.
          for (const each of ending.values())
            each.look((error) => logFailure(error, { target: each.name }, "sessions end late"));
          await ports.sleep(LOOKED_EVERY_MS, stopping);
        }
      } finally {
        for (const each of ending.values()) await each.close();
        await lease.release();
      }
    },
  });
}

function isServed({ config, paused }: Target): boolean {
  return config.kind === "radius" && config.sessions !== undefined && !paused;
}

interface Request {
  readonly user: DueUser;
  readonly session: NotedSession;
}

/** The due users of one target. The next holder of the lease goes on from what is saved. */
class Ending {
  readonly name: string;
  readonly #targetId: number;
  readonly #ports: SessionPorts;
  readonly #lease: Lease;
  readonly #tools: SessionTools;
  /** Users with something left to do. */
  readonly #users = new Map<string, DueUser>();
  /** Those whose state is not saved yet. */
  readonly #changed = new Set<string>();
  /** When sessions of users without one were looked for, by the stopwatch. */
  readonly #lookedAt = new Map<string, number>();
  /** Requests that are sent once they are saved. */
  #requests: Request[] = [];
  /** Sessions with a request, and their number by device. */
  readonly #asking = new Set<number>();
  readonly #asked = new Map<string, number>();
  #isLoaded = false;
  #isOver = false;
  /** Time by the stopwatch. */
  #seenAt = -Infinity;
  /** The last request, by the stopwatch. */
  #askedAt = -Infinity;
  #looking: Promise<void> | undefined;

  constructor(target: Target, ports: SessionPorts, lease: Lease) {
    this.name = target.name;
    this.#targetId = target.id;
    this.#ports = ports;
    this.#lease = lease;
    this.#tools = ports.createSessionTools(target);
  }

  /** Begins a round, unless one is under way. */
  look(onFailure: (error: unknown) => void): void {
    this.#looking ??= this.#round()
      .catch(onFailure)
      .finally(() => {
        this.#looking = undefined;
      });
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await this.#looking;
    await this.#tools.close();
  }

  async #round(): Promise<void> {
    await this.#read();
    await this.#note();
    const now = this.#ports.stopwatch();
    const isFresh = now - this.#askedAt < FRESH_MS;
    const isTime = isFresh || now - this.#seenAt >= SEEN_EVERY_MS;
    if (isTime) {
      // A look that fails counts too: the next round asks devices all the same.
      this.#seenAt = now;
      await this.#see();
    }
    this.#choose(isTime);
    await this.#save();
    for (const request of this.#requests.splice(0)) void this.#ask(request);
  }

  async #read(): Promise<void> {
    const { clock, store } = this.#ports;
    for (let after = ""; !this.#isLoaded; ) {
      const users = await store.sessionsDue.open(this.#targetId, after, AT_ONCE);
      for (const user of users) this.#users.set(user.username, user);
      after = users.at(-1)?.username ?? "";
      this.#isLoaded = users.length < AT_ONCE;
    }
    for (const user of await store.sessionsDue.due(this.#targetId, clock(), AT_ONCE)) {
      const known = this.#users.get(user.username);
      if (known === undefined || known.seq < user.seq || known.dueAt < user.dueAt) {
        this.#users.set(user.username, user);
        this.#lookedAt.delete(user.username);
      }
      // Saved, it is not found again for a while.
      this.#changed.add(user.username);
    }
  }

  async #note(): Promise<void> {
    const now = this.#ports.clock();
    const at = this.#ports.stopwatch();
    const wanted = [...this.#users.values()].filter(({ username, sessions, dueAt }) => {
      return sessions.length === 0 && dueAt <= now && at - (this.#lookedAt.get(username) ?? -Infinity) >= SEEN_EVERY_MS;
    });
    for (const users of portionsOf(wanted.slice(0, MOST_SEEN), AT_ONCE)) {
      const found = new Map<string, RadiusSession[]>();
      for (const session of await this.#tools.open(users.map(({ username }) => username))) {
        // Databases may ignore trailing blanks in a name too.
        const name = foldName(session.username.trimEnd());
        found.set(name, [...(found.get(name) ?? []), session]);
      }
      for (const user of users) {
        this.#lookedAt.set(user.username, at);
        this.#put(user, noteSessions(user, found.get(foldName(user.username)) ?? [], now));
      }
    }
  }

  async #see(): Promise<void> {
    const users = [...this.#users.values()].filter(({ sessions }) => sessions.length > 0);
    const some = users.slice(0, MOST_SEEN);
    for (const portion of portionsOf(some, USERS_AT_ONCE)) {
      const open = portion.flatMap(({ sessions }) => sessions.filter(({ ended }) => ended !== true));
      const states = await this.#tools.states(open.map(({ id }) => id));
      const byId = new Map(states.map((state) => [state.id, state]));
      const now = this.#ports.clock();
      const at = { now, random: () => this.#random(), isUnderWay: (id: number) => this.#asking.has(id) };
      for (const user of portion) this.#put(user, seeSessions(user, byId, at));
    }
    // The others are first in the next round.
    if (users.length > some.length)
      for (const { username } of some) {
        const user = this.#users.get(username) as DueUser;
        this.#users.delete(username);
        this.#users.set(username, user);
      }
  }

  /** @param isSeen whether radacct was just asked: only then a device is asked again. */
  #choose(isSeen: boolean): void {
    const now = this.#ports.clock();
    for (const user of [...this.#users.values()])
      for (const session of sessionsToAsk(user, now)) {
        const { id, device, attempts } = session;
        const asked = this.#asked.get(device) ?? 0;
        if (this.#asking.has(id) || asked >= MOST_ASKED || (attempts > 0 && !isSeen)) continue;
        this.#asking.add(id);
        this.#asked.set(device, asked + 1);
        const before = this.#users.get(user.username) as DueUser;
        this.#put(before, askSession(before, id, now));
        this.#requests.push({ user, session });
        this.#askedAt = this.#ports.stopwatch();
      }
  }

  async #save(): Promise<void> {
    const users = [...this.#changed].flatMap((username) => this.#users.get(username) ?? []);
    if (users.length === 0) return;
    const { clock, store } = this.#ports;
    for (const some of portionsOf(users, AT_ONCE)) {
      const left = await store.sessionsDue.save(this.#targetId, some, clock() + HELD_MS, this.#lease);
      if (left === undefined) throw new Error("another process may end the sessions of this target");
      for (const user of some) {
        const { username, nextAt } = user;
        if (this.#users.get(username) === user) this.#changed.delete(username);
        if (nextAt === NEVER || left.includes(user)) this.#forget(user);
      }
    }
  }

  async #ask({ user, session }: Request): Promise<void> {
    const { username, seq } = user;
    const { id, device } = session;
    let answer: SessionAnswer = "silent";
    try {
      // Another change has begun anew.
      if (this.#users.get(username)?.seq === seq && !this.#isOver) answer = await this.#tools.end(session);
    } catch (error) {
      this.#ports.log("warn", { target: this.name, err: error }, "a device could not be asked to end a session");
      answer = { problem: `${device}: an error of topupd's own: its log says more` };
    }
    this.#asking.delete(id);
    this.#asked.set(device, (this.#asked.get(device) ?? 1) - 1);
    const now = this.#users.get(username);
    if (now?.seq === seq) this.#put(now, answerSession(now, id, answer, this.#ports.clock(), this.#random()));
  }

  #put(before: DueUser, user: DueUser): void {
    if (user === before) return;
    this.#users.set(user.username, user);
    this.#changed.add(user.username);
    if (before.endedAt === undefined && user.endedAt !== undefined)
      this.#ports.observer?.stepEnded(this.name, user.endedAt - user.at);
  }

  #forget(user: DueUser): void {
    const { username } = user;
    if (this.#users.get(username) !== user) return;
    this.#users.delete(username);
    this.#changed.delete(username);
    this.#lookedAt.delete(username);
  }

  #random(): number {
    return (this.#ports.random(1)[0] ?? 0) / 256;
  }
}
