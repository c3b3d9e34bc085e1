import type { ConnectionKey } from "../../src/domain/customer.ts";
import { type ConnectionEvent, EVENTS_KEPT_MS, type EventSubscription, type Recorded } from "../../src/domain/event.ts";
import type { Target, WaitingDelivery } from "../../src/domain/target.ts";
import type { Instant, WallTime } from "../../src/domain/wall-time.ts";
import { StoreUnavailable } from "../../src/store/errors.ts";
import type { ConnectionTurn, HeldLease, Outbox, SavedProgress, TurnsPage, TurnsTold } from "../../src/store/outbox.ts";

/** An outbox that keeps nothing, and heeds the same rules. */
const CUSTOMERS_AT_ONCE = 1_000;

export class MemoryOutbox implements Outbox {
  events: Recorded<ConnectionEvent>[] = [];
  targetList: Target[] = [];
  readonly places = new Map<number, number>();
  readonly deliveries = new Map<number, WaitingDelivery>();
  readonly leases = new Map<string, { readonly holder: string; readonly until: Instant }>();
  /** What the provider's connections have, by their customers' ids. */
  readonly subscriptions = new Map<string, EventSubscription[]>();
  toldUntil: WallTime | undefined;
  /** Every call fails. */
  isAway = false;
  /** What each of these was called with. */
  readonly calls = { saveProgress: [] as SavedProgress[], tellTurns: [] as number[], turnsBetween: [] as WallTime[] };
  #last = 0;

  add(event: Omit<ConnectionEvent, "state" | "topUp"> & Partial<ConnectionEvent>): Recorded<ConnectionEvent> {
    this.#last += 1;
    const { cuid } = event.key;
    const state = { blocked: false, subscriptions: this.subscriptions.get(cuid) ?? [] };
    const recorded = { state, topUp: undefined, partner: undefined, ...event, seq: this.#last };
    this.events.push(recorded);
    return recorded;
  }

  async hold(lease: string, holder: string, now: Instant, until: Instant): Promise<boolean> {
    this.#expectUp();
    const held = this.leases.get(lease);
    const isFree = held === undefined || held.until <= now || held.until > until + 60_000;
    if (!isFree && held.holder !== holder) return false;
    this.leases.set(lease, { holder, until });
    return true;
  }

  async release(lease: string, holder: string): Promise<void> {
    this.#expectUp();
    if (this.leases.get(lease)?.holder === holder) this.leases.delete(lease);
  }

  async targets(): Promise<Target[]> {
    this.#expectUp();
    return structuredClone(this.targetList);
  }

  async place(targetId: number): Promise<number> {
    this.#expectUp();
    return this.places.get(targetId) ?? 0;
  }

  /** There is one target in the tests that fail any. */
  async waiting(): Promise<readonly WaitingDelivery[]> {
    this.#expectUp();
    return [...this.deliveries.values()].sort((a, b) => a.seq - b.seq);
  }

  async eventsAfter(seq: number, limit: number): Promise<readonly Recorded<ConnectionEvent>[]> {
    this.#expectUp();
    const first = this.events.findIndex((event) => event.seq > seq);
    return first === -1 ? [] : this.events.slice(first, first + limit);
  }

  async eventsOf(seqs: readonly number[]): Promise<readonly Recorded<ConnectionEvent>[]> {
    this.#expectUp();
    const asked = new Set(seqs);
    return this.events.filter(({ seq }) => asked.has(seq));
  }

  async saveProgress(progress: SavedProgress): Promise<boolean> {
    this.#expectUp();
    if (!this.#isHeld(progress)) return false;
    this.calls.saveProgress.push(progress);
    this.places.set(progress.targetId, progress.place);
    if (progress.isGone === true)
      this.targetList = this.targetList.map((target) =>
        target.id === progress.targetId ? { ...target, paused: true, gone: true } : target,
      );
    for (const seq of progress.done) this.deliveries.delete(seq);
    for (const row of progress.waiting) this.deliveries.set(row.seq, row);
    return true;
  }

  /** One by one, so that it takes a while. */
  async forget(now: Instant): Promise<number> {
    this.#expectUp();
    const [first] = this.events;
    if (first === undefined || first.at >= now - EVENTS_KEPT_MS) return 0;
    this.events.shift();
    this.deliveries.delete(first.seq);
    return 1;
  }

  async turnsToldUntil(): Promise<WallTime | undefined> {
    this.#expectUp();
    return this.toldUntil;
  }

  async turnsBetween(after: WallTime, until: WallTime, beyond: ConnectionKey | undefined): Promise<TurnsPage> {
    this.#expectUp();
    this.calls.turnsBetween.push(after);
    const cuids = [...this.subscriptions.keys()].filter((cuid) => cuid > (beyond?.cuid ?? "")).sort();
    const page = cuids.slice(0, CUSTOMERS_AT_ONCE);
    const turns = page.flatMap((cuid) => {
      const its = (this.subscriptions.get(cuid) ?? []).flatMap((each) =>
        (["start", "end"] as const).map((kind) => ({ key: keyOf(cuid), kind, at: each[kind] })),
      );
      return its.filter(({ at }) => at > after && at <= until);
    });
    return { turns, next: cuids.length > page.length ? keyOf(page.at(-1) ?? "") : undefined };
  }

  async tellTurns(turns: readonly ConnectionTurn[], { at, toldUntil }: TurnsTold, lease: HeldLease): Promise<boolean> {
    this.#expectUp();
    if (!this.#isHeld(lease)) return false;
    this.calls.tellTurns.push(turns.length);
    for (const { key, kind, at: turn } of turns)
      if (this.subscriptions.get(key.cuid)?.some((each) => each[kind] === turn) === true)
        this.add({ kind: kind === "end" ? "subscription.ended" : "subscription.changed", at, key });
    this.toldUntil = toldUntil;
    return true;
  }

  async lastEvent(): Promise<number> {
    this.#expectUp();
    return this.#last;
  }

  #isHeld({ lease, holder }: HeldLease): boolean {
    return this.leases.get(lease)?.holder === holder;
  }

  #expectUp(): void {
    if (this.isAway) throw new StoreUnavailable("the database is unavailable");
  }
}

export function keyOf(cuid: string): ConnectionKey {
  return { environment: "production", cuid, service: "internet", reqId: `fiber-${cuid}` };
}

/** A webhook that was there before anything happened. */
export function targetWith(changes: Partial<Target> = {}): Target {
  return {
    ...{
      id: 1,
      name: "tv",
      partner: undefined,
      billing: false,
      paused: false,
      gone: false,
      createdAt: 0,
      resentAt: undefined,
    },
    config: { kind: "webhook", url: "https://tv.example/hook" },
    secrets: [{ secret: "whsec_MQ==", until: undefined }],
    ...changes,
  };
}
