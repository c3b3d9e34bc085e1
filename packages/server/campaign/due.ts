import { setImmediate } from "node:timers/promises";
import type { ToldChange } from "../src/domain/news.ts";
import {
  connectionSubject,
  factSubject,
  isFact,
  type NamedConnection,
  readWebhookId,
  webhookIdOf,
} from "../src/domain/subject.ts";
import { DeliveryFailed } from "../src/domain/target.ts";
import type { Instant, WallTime } from "../src/domain/wall-time.ts";
import { type BegunDue, change, dueOf, refresh, restored } from "../src/store/due.ts";
import { type Db, type Engine, withRawNames } from "../src/store/engine.ts";
import type { RawRow } from "../src/store/tables.ts";
import { DueDelivery } from "../src/workers/due-delivery.ts";
import { Choices } from "./random.ts";

/*
 * Random changes, plans that begin and end, failures, late and early confirmations, kills, clocks set back, and restores. In
 * the end a receiver has the present state of each connection and every fact, none ever went back, nothing stays open, and
 * what is on record is what the receiver has.
 */

export interface DueOptions {
  readonly seed: number;
  /** Number of stories. */
  readonly rounds: number;
  /** The engine of a database without targets. */
  readonly engine: Engine;
}

/** Counts of tried cases. Low counts would prove nothing. */
interface Seen {
  changes: number;
  facts: number;
  turns: number;
  sent: number;
  kills: number;
  restores: number;
  clocksBack: number;
  confirmed: number;
  early: number;
}

/** @throws Error that says what the receiver or the database has wrong, and in which story. */
export async function due({ seed, rounds, engine }: DueOptions): Promise<string> {
  const choices = new Choices(seed);
  const seen: Seen = {
    changes: 0,
    facts: 0,
    turns: 0,
    sent: 0,
    kills: 0,
    restores: 0,
    clocksBack: 0,
    confirmed: 0,
    early: 0,
  };
  for (let round = 0; round < rounds; round += 1) {
    const story = new Story(engine, new Choices(choices.seed()), seen);
    try {
      await story.play();
    } catch (cause) {
      throw new Error(`story ${round} of seed ${seed}: ${String(cause)}`, { cause });
    }
  }
  const { changes, facts, turns, sent, kills, restores, clocksBack, confirmed, early } = seen;
  return `${rounds} stories: ${changes} changes, ${facts} facts, ${turns} beginnings and ends, ${sent} messages, ${kills} kills, ${restores} restores, ${clocksBack} clocks set back, ${confirmed} confirmations, ${early} of them before the answer`;
}

const STEPS = 150;
const TARGET = 1;
const LEASE = "target:1";
const NAMES = ["a", "b", "c", "d"].map((reqId): NamedConnection => {
  return { environment: "production", service: "internet", reqId };
});
const SUBJECTS = NAMES.map(connectionSubject);
/** Tables that a restore brings back. */
const COPIED = ["due", "told", "ends_told"] as const;
const EMPTIED = [...COPIED, "lease"] as const;

/** What is paid for a connection: the number of the change, and from when until when there is service. */
interface Paid {
  readonly n: number;
  readonly from: Instant;
  readonly until: Instant;
}

interface State {
  readonly n: number;
  readonly on: boolean;
}

interface Copy {
  readonly rows: Readonly<Record<(typeof COPIED)[number], readonly object[]>>;
  readonly paid: ReadonlyMap<string, Paid>;
  readonly facts: ReadonlySet<string>;
}

class Story {
  readonly #engine: Engine;
  readonly #store: ReturnType<typeof dueOf>;
  readonly #choices: Choices;
  readonly #seen: Seen;
  #now: Instant = Date.parse("2026-11-28T09:00:00Z");
  /** The time if no clock had been set back. */
  #real = this.#now;
  #elapsed = 0;
  #failsInHundred = 30;
  #paid = new Map<string, Paid>();
  #facts = new Set<string>();
  /** What the receiver has: a message that is not greater is ignored. */
  readonly #has = new Map<string, State & { readonly version: number }>();
  readonly #got = new Set<string>();
  /** Time of the oldest change of each connection that the receiver may lack. */
  readonly #undone = new Map<string, Instant>();
  #promised: string[] = [];
  #life = 0;
  #delivery!: DueDelivery;
  /** What killed processes had under way. */
  #dying: Promise<void>[] = [];
  #copy: Copy | undefined;
  #failure: unknown;

  constructor(engine: Engine, choices: Choices, seen: Seen) {
    this.#engine = engine;
    this.#store = dueOf(engine);
    this.#choices = choices;
    this.#seen = seen;
  }

  async play(): Promise<void> {
    await this.#engine.transact(async (tx) => {
      for (const table of EMPTIED) await withRawNames(tx).deleteFrom(table).execute();
    });
    await this.#start();
    for (let step = 0; step < STEPS; step += 1) {
      await this.#incident(step);
      await this.#compareOpen();
      this.#pass(this.#choices.below(3_000));
    }
    await this.#end();
    await this.#compareAll();
  }

  async #incident(step: number): Promise<void> {
    const what = this.#choices.below(100);
    if (what < 33) await this.#change(step);
    else if (what < 76) await this.#work();
    else if (what < 82) await this.#kill();
    else if (what < 87) this.#failsInHundred = this.#chance(50) ? 100 : 20;
    else if (what < 92) await this.#confirmAll();
    else if (what < 93) this.#setBack();
    else if (what < 95) await this.#save();
    else if (what < 97) await this.#restore();
  }

  async #change(step: number): Promise<void> {
    const subject = this.#choices.of(SUBJECTS);
    const n = (this.#paid.get(subject)?.n ?? 0) + 1;
    const from = this.#now + (this.#chance(30) ? this.#choices.below(30_000) : 0);
    const paid = { n, from, until: from + this.#choices.below(60_000) };
    const fact = factSubject({
      kind: "topup",
      partnerId: 1,
      environment: "production",
      txnId: `${this.#life} ${step}`,
    });
    const news = [this.#newsOf(subject, "subscription.changed")];
    if (this.#chance(50)) {
      news.push({ subject: fact, cuid: undefined, kind: "topup.recorded", at: this.#now, targets: [TARGET] });
      this.#seen.facts += 1;
    }
    this.#seen.changes += 1;
    await this.#engine.transact(async (tx) => {
      await this.#begin(tx, subject);
      this.#paid.set(subject, paid);
      if (news.length > 1) this.#facts.add(fact);
      await change(tx, news);
    });
  }

  #newsOf(subject: string, kind: ToldChange["kind"]): ToldChange {
    return { subject, cuid: "1000001", kind, at: this.#now, targets: [TARGET] };
  }

  /** Notes that a connection changes, unless an older change is not done. */
  async #begin(tx: Db, subject: string): Promise<void> {
    await this.#engine.lockDue(tx, TARGET, [subject]);
    const rows = tx.selectFrom("due").select("subject").where("subject", "=", subject);
    if ((await rows.execute()).length === 0) this.#settle(subject);
    if (!this.#undone.has(subject)) this.#undone.set(subject, this.#now);
  }

  /** A connection that nothing is due of is done. */
  #settle(subject: string): void {
    if (!this.#undone.has(subject)) return;
    const [has, paid] = [this.#has.get(subject)?.n ?? 0, this.#paid.get(subject)?.n ?? 0];
    if (has !== paid) throw new Error(`${subject} counts as done: its receiver has ${has} of ${paid}`);
    this.#undone.delete(subject);
  }

  /** A look at beginnings and ends, and one of the delivery, which may go on meanwhile. */
  async #work(): Promise<void> {
    await this.#turn();
    const looking = this.#delivery.look();
    this.#dying.push(looking.catch((error: unknown) => this.#fail(error)));
    if (this.#chance(50)) await looking;
    await this.#turns(8);
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
  }

  async #turn(): Promise<void> {
    const find = async (tx: Db, after: WallTime, until: WallTime) => {
      const isIn = (at: Instant) => wallTime(at) > after && wallTime(at) <= until;
      const found = [...this.#paid].filter(([, { from, until: end }]) => isIn(from) || isIn(end));
      for (const [subject] of found) await this.#begin(tx, subject);
      this.#seen.turns += found.length;
      return found.map(([subject]) => this.#newsOf(subject, "subscription.ended"));
    };
    await this.#store.turn(wallTime(this.#now), find, { lease: "ends", holder: "ends" });
  }

  /** Another process takes the lease. What the first one sent may still arrive, and it records nothing more. */
  async #kill(): Promise<void> {
    this.#seen.kills += 1;
    await this.#start();
  }

  async #start(): Promise<void> {
    const killed = this.#delivery as DueDelivery | undefined;
    this.#life += 1;
    const life = this.#life;
    const held = { lease: LEASE, holder: `process ${life}` };
    const rows = [
      { name: LEASE, holder: held.holder, held_until: 0 },
      { name: "ends", holder: "ends", held_until: 0 },
    ];
    await this.#engine.transact((tx) => this.#engine.rows.put(tx, "lease", rows));
    if (killed !== undefined) this.#dying.push(killed.finish().catch((error: unknown) => this.#fail(error)));
    const target = { id: TARGET, name: "tv", billing: false };
    this.#delivery = new DueDelivery(
      target,
      { ...held, leftMs: Number.POSITIVE_INFINITY },
      {
        clock: () => this.#now,
        stopwatch: () => this.#elapsed,
        random: () => this.#choices.below(1_000) / 1_000,
        sleep: untilAborted,
        log: () => {},
        store: this.#store,
        prepare: async (begun) => begun.map((row) => ({ due: row, send: () => this.#receive(row, life) })),
      },
    );
  }

  /** The receiver, and the way to it. A failure may come before or after it took the message. */
  async #receive({ subject, sent: version }: BegunDue, life: number) {
    if (life !== this.#life) throw new DeliveryFailed("the process was killed");
    const state = this.#stateOf(subject);
    await this.#turns(3);
    const isLost = this.#chance(this.#failsInHundred);
    const failure = new DeliveryFailed("unavailable", { isAnswer: this.#chance(50) });
    if (isLost && this.#chance(70)) throw failure;
    this.#seen.sent += 1;
    if (isFact(subject)) this.#got.add(subject);
    else this.#take(subject, { ...state, version }, life);
    const waits = this.#chance(30);
    const id = webhookIdOf(subject, version);
    if (waits && this.#chance(50)) {
      await this.#confirm(id);
      this.#seen.early += 1;
    } else if (waits) this.#promised.push(id);
    await this.#turns(4);
    if (isLost) throw failure;
    return { waits };
  }

  #take(subject: string, state: State & { readonly version: number }, life: number): void {
    const last = this.#has.get(subject);
    if (last === undefined || state.version > last.version) this.#has.set(subject, state);
    else if (state.n > last.n || life === this.#life)
      this.#fail(new Error(`${subject}: version ${state.version} after ${last.version}`));
  }

  #stateOf(subject: string): State {
    const { n, from, until } = this.#paid.get(subject) ?? { n: 0, from: 0, until: 0 };
    const now = wallTime(this.#now);
    return { n, on: wallTime(from) <= now && now < wallTime(until) };
  }

  async #confirm(id: string): Promise<void> {
    const named = readWebhookId(id);
    if (named === undefined) throw new Error(`${id} is no id`);
    await this.#store.confirm(TARGET, { ...named, state: "done" }, this.#now);
    this.#seen.confirmed += 1;
  }

  async #confirmAll(): Promise<void> {
    for (const id of this.#promised.splice(0)) await this.#confirm(id);
  }

  #setBack(): void {
    this.#now -= this.#choices.below(600_000);
    this.#seen.clocksBack += 1;
  }

  async #save(): Promise<void> {
    const rows = await this.#engine.view(async (db) => {
      const copy = { due: [] as object[], told: [] as object[], ends_told: [] as object[] };
      for (const table of COPIED) copy[table] = await withRawNames(db).selectFrom(table).selectAll().execute();
      return copy;
    });
    this.#copy = { rows, paid: new Map(this.#paid), facts: new Set(this.#facts) };
  }

  async #restore(): Promise<void> {
    const copy = this.#copy;
    if (copy === undefined) return;
    this.#seen.restores += 1;
    await this.#start();
    await this.#settled();
    this.#paid = new Map(copy.paid);
    this.#facts = new Set(copy.facts);
    this.#promised = [];
    this.#undone.clear();
    // The clock must be right when a copy is restored: receivers know versions that the copy does not.
    const versions = [...this.#has.values()].map(({ version }) => version);
    this.#now = Math.max(this.#now, this.#real, ...versions) + 1_000;
    await this.#engine.transact(async (tx) => {
      for (const table of COPIED) {
        await withRawNames(tx).deleteFrom(table).execute();
        await this.#engine.rows.put(tx, table, copy.rows[table] as readonly RawRow<(typeof COPIED)[number]>[] as never);
      }
      await restored(tx, this.#now);
    });
    for (const subject of this.#choices.shuffled(SUBJECTS))
      await this.#engine.transact((tx) => refresh(tx, TARGET, [{ subject, cuid: "1000001" }], this.#now));
  }

  /** What killed processes and looks had under way has ended. */
  async #settled(): Promise<void> {
    await Promise.all(this.#dying.splice(0));
  }

  /** A connection is done only if its receiver has the present state; until then it is open since the oldest change. */
  async #compareOpen(): Promise<void> {
    const rows = await this.#engine.db.selectFrom("due").select(["subject", "since"]).execute();
    const open = new Map(rows.map(({ subject, since }) => [subject, since]));
    for (const [subject, first] of this.#undone) {
      const since = open.get(subject);
      if (since === undefined) this.#settle(subject);
      else if (since !== null && since > first)
        throw new Error(`${subject} is late since ${since}, and its oldest change that is not done is from ${first}`);
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #end(): Promise<void> {
    this.#failsInHundred = 0;
    this.#now = Math.max(this.#now, this.#real);
    await this.#settled();
    await this.#start();
    const last = Math.max(this.#now, ...[...this.#paid.values()].map(({ until }) => until));
    for (let look = 0; look < 300; look += 1) {
      this.#pass(60_000);
      await this.#turn();
      await this.#delivery.look();
      while (!this.#delivery.isIdle) {
        await this.#turns(4);
        this.#elapsed += 1_000;
        await this.#delivery.look();
      }
      await this.#confirmAll();
      const left = await this.#engine.db.selectFrom("due").select("subject").limit(1).execute();
      if (left.length === 0 && this.#now > last) break;
    }
    await this.#settled();
  }

  async #compareAll(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    const open = await this.#engine.db.selectFrom("due").selectAll().execute();
    const told = await this.#engine.db.selectFrom("told").selectAll().execute();
    if (open.length > 0) throw new Error(`still open: ${JSON.stringify(open)}`);
    for (const fact of this.#facts) if (!this.#got.has(fact)) throw new Error(`${fact} is lost`);
    for (const subject of this.#paid.keys()) {
      const [has, state] = [this.#has.get(subject), this.#stateOf(subject)];
      if (has?.n !== state.n || has.on !== state.on)
        throw new Error(`${subject} is ${JSON.stringify(state)}, and its receiver has ${JSON.stringify(has)}`);
      const row = told.find((each) => each.subject === subject);
      if (row?.state !== "done" || row.version !== has.version)
        throw new Error(`${subject} is on record as ${JSON.stringify(row)}, and its receiver has ${has.version}`);
    }
  }

  #pass(ms: number): void {
    this.#now += ms;
    this.#elapsed += ms;
    this.#real = Math.max(this.#real, this.#now);
  }

  #chance(inHundred: number): boolean {
    return this.#choices.below(100) < inHundred;
  }

  async #turns(below: number): Promise<void> {
    for (let turn = this.#choices.below(below); turn > 0; turn -= 1) await setImmediate();
  }
}

function wallTime(at: Instant): WallTime {
  return new Date(at).toISOString().slice(0, "YYYY-MM-DD HH:MM:SS".length).replace("T", " ");
}

/** Nobody waits here for time alone: what is not aborted never ends. */
function untilAborted(_: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) resolve();
    signal?.addEventListener("abort", () => resolve());
  });
}
