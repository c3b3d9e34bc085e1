import type { ConnectionKey } from "../domain/customer.ts";
import type { ConnectionEvent } from "../domain/event.ts";
import {
  type Instant,
  type Moment,
  readWallTime,
  type WallTime,
  writeWallTime,
  type Zone,
} from "../domain/wall-time.ts";
import type { ConnectionTurn, HeldLease, Outbox } from "../store/outbox.ts";
import type { ProviderSettings } from "../store/store.ts";
import { Lease, startRepeating, type Worker, type WorkerPorts } from "./worker.ts";

export interface EndsPorts extends WorkerPorts {
  readonly store: { readonly outbox: Outbox; readonly provider: Pick<ProviderSettings, "zone"> };
}

/** How often processes without the lease ask for it. */
const TAKEN_EVERY_MS = 5_000;
const LOOKED_EVERY_MS = 1_000;
/** Pause between portions of work, so that others can use the database. */
const PAUSE_MS = 5;
const SCANNED_EVERY_MS = 60 * 60_000;
/** How far ahead turns are known. The next scan ends well before the last of them. */
const KNOWN_AHEAD_MS = 70 * 60_000;
const FORGOTTEN_EVERY_MS = 60_000;
const EVENTS_PAGE = 500;
const TOLD_AT_ONCE = 200;

/** Events that may let a subscription begin or end earlier than the scan found. */
const MOVING: ReadonlySet<string> = new Set(["topup.reversed", "subscription.changed"]);

/**
 * Writes an event for each subscription that begins or ends, a few seconds after this turn by local time, and deletes old
 * events. One process at a time does this.
 */
export function startTellingEnds(ports: EndsPorts): Worker {
  return startRepeating(ports, {
    everyMs: TAKEN_EVERY_MS,
    failure: "events for subscriptions that began or ended are late",
    async work(stopping) {
      const lease = new Lease(ports.store.outbox, ports, "ends");
      if (!(await lease.take())) return;
      try {
        const turns = new Turns(ports, lease);
        while (!stopping.aborted && (await lease.renew())) {
          const hasMore = await turns.look();
          await ports.sleep(hasMore ? PAUSE_MS : LOOKED_EVERY_MS, stopping);
        }
      } finally {
        await lease.release();
      }
    },
  });
}

/** A scan of all subscriptions, page by page. */
interface Scan {
  readonly from: WallTime;
  readonly until: WallTime;
  readonly after: ConnectionKey | undefined;
}

/** The coming turns that the holder of the lease knows. */
class Turns {
  readonly #ports: EndsPorts;
  readonly #held: HeldLease;
  /** Turns by connection, kind and time. */
  readonly #coming = new Map<string, ConnectionTurn>();
  /** Turns have events up to this time; undefined if there are no targets. */
  #toldUntil: WallTime | undefined;
  #lastRead = 0;
  #scan: Scan | undefined;
  #scannedAt: Instant = 0;
  #knownUntil: WallTime = "";
  /** Whether the scan has found all turns up to now. Only then may progress be saved. */
  #isComplete = false;
  /** Whether progress must be saved even if nothing turned. */
  #isUnsaved = false;
  /** Time by the stopwatch. */
  #forgottenAt = -Infinity;

  constructor(ports: EndsPorts, { lease, holder }: Lease) {
    this.#ports = ports;
    this.#held = { lease, holder };
  }

  /** @returns whether more work is ready now. */
  async look(): Promise<boolean> {
    const { clock, store } = this.#ports;
    const now = store.provider.zone.moment(clock());
    const mayForgetMore = await this.#forget(now.instant);
    const targets = await store.outbox.targets();
    if (targets.length === 0) {
      this.#toldUntil = undefined;
      return mayForgetMore;
    }
    const oldest = Math.min(...targets.map(({ createdAt }) => createdAt));
    const toldUntil = this.#toldUntil ?? (await this.#begin(oldest));
    if (now.instant - this.#scannedAt >= SCANNED_EVERY_MS) this.#beginScan(toldUntil, now.instant);
    await this.#scanOn();
    await this.#follow();
    const mayTellMore = await this.#tell(now, toldUntil);
    return mayForgetMore || mayTellMore || this.#scan !== undefined;
  }

  async #forget(now: Instant): Promise<boolean> {
    const at = this.#ports.stopwatch();
    if (at - this.#forgottenAt < FORGOTTEN_EVERY_MS) return false;
    if ((await this.#ports.store.outbox.forget(now)) > 0) return true;
    this.#forgottenAt = at;
    return false;
  }

  /** @param since when the oldest target was added: targets get no earlier turns. */
  async #begin(since: Instant): Promise<WallTime> {
    const { outbox, provider } = this.#ports.store;
    const [stored = "", added] = [await outbox.turnsToldUntil(), provider.zone.wallTime(since)];
    // Read before the scan, so that events during the scan are followed.
    this.#lastRead = await outbox.lastEvent();
    this.#coming.clear();
    this.#scannedAt = 0;
    this.#isComplete = false;
    this.#toldUntil = stored > added ? stored : added;
    return this.#toldUntil;
  }

  #beginScan(from: WallTime, now: Instant): void {
    this.#scannedAt = now;
    this.#knownUntil = knownUntil(this.#ports.store.provider.zone, now);
    this.#scan = { from, until: this.#knownUntil, after: undefined };
  }

  async #scanOn(): Promise<void> {
    if (this.#scan === undefined) return;
    const { from, until, after } = this.#scan;
    const { turns, next } = await this.#ports.store.outbox.turnsBetween(from, until, after);
    for (const each of turns) this.#expect(each);
    if (next !== undefined) {
      this.#scan = { from, until, after: next };
      return;
    }
    this.#scan = undefined;
    this.#isComplete = true;
    this.#isUnsaved = true;
  }

  async #follow(): Promise<void> {
    for (;;) {
      const events = await this.#ports.store.outbox.eventsAfter(this.#lastRead, EVENTS_PAGE);
      for (const event of events) {
        this.#lastRead = event.seq;
        if (!("alert" in event) && MOVING.has(event.kind)) this.#expectThoseOf(event);
      }
      if (events.length < EVENTS_PAGE) return;
    }
  }

  /** Later turns are found by the next scan. */
  #expectThoseOf({ at, key, state }: ConnectionEvent): void {
    const happened = this.#ports.store.provider.zone.wallTime(at);
    for (const subscription of state.subscriptions)
      for (const kind of ["start", "end"] as const) {
        const turn = subscription[kind];
        if (turn > happened && turn <= this.#knownUntil) this.#expect({ key, kind, at: turn });
      }
  }

  #expect(each: ConnectionTurn): void {
    const { environment, cuid, service, reqId } = each.key;
    // A long scan also finds turns that got their event during the scan.
    if (each.at <= (this.#toldUntil ?? "")) return;
    this.#coming.set(JSON.stringify([environment, cuid, service, reqId, each.kind, each.at]), each);
  }

  /** Writes the events of a portion. @returns whether there are more. */
  async #tell(now: Moment, toldUntil: WallTime): Promise<boolean> {
    const portion: (readonly [name: string, turn: ConnectionTurn])[] = [];
    let isLast = true;
    for (const each of this.#coming) {
      if (each[1].at > now.wall) continue;
      isLast = portion.length < TOLD_AT_ONCE;
      if (!isLast) break;
      portion.push(each);
    }
    // Progress is saved only after the last portion, so after a kill all portions are repeated.
    const wall = isLast && this.#isComplete && now.wall > toldUntil ? now.wall : toldUntil;
    if (portion.length > 0 || this.#isUnsaved) {
      const turns = portion.map(([, each]) => each);
      if (!(await this.#ports.store.outbox.tellTurns(turns, { at: now.instant, toldUntil: wall }, this.#held)))
        return false;
      for (const [name] of portion) this.#coming.delete(name);
      if (isLast) this.#isUnsaved = false;
    }
    this.#toldUntil = wall;
    return !isLast;
  }
}

/** The latest local time until then, even if the clocks go back meanwhile. */
function knownUntil(zone: Zone, now: Instant): WallTime {
  const [then, unchanged] = [zone.wallTime(now + KNOWN_AHEAD_MS), readWallTime(zone.wallTime(now)) ?? 0];
  const latest = writeWallTime(unchanged + KNOWN_AHEAD_MS);
  return then > latest ? then : latest;
}
