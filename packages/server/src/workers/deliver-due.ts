import type { Target } from "../domain/target.ts";
import type { BegunDue, DueStore } from "../store/due.ts";
import { StoreUnavailable } from "../store/errors.ts";
import type { Outbox } from "../store/outbox.ts";
import type { Store } from "../store/store.ts";
import { DueDelivery, type Prepared } from "./due-delivery.ts";
import { failureLog, Lease, startRepeating, type Worker, type WorkerPorts } from "./worker.ts";

type DeliveredDue = Pick<DueStore, "targetsDue" | "begin" | "recordAttempts" | "retryAll" | "forget">;

export interface DueWorkerPorts extends WorkerPorts {
  readonly store: {
    readonly outbox: Pick<Outbox, "hold" | "release" | "targets">;
    readonly due: DeliveredDue;
  };
  /** Returns this many bytes that cannot be guessed. */
  readonly random: (bytes: number) => Uint8Array;
  readonly createTeller: (target: Target) => Teller;
}

/** The functions that tell targets. */
export interface TellerTools {
  /** @param target the webhook of a partner. */
  createTeller(target: Target, store: Pick<Store, "engine" | "provider">): Teller;
}

/** Tells one target of subjects. */
export interface Teller {
  /**
   * Reads the state of some subjects.
   * @param number about the time: what is read later has a greater one.
   */
  prepare(begun: readonly BegunDue[], number: number): Promise<readonly Prepared[]>;
  close(): Promise<void>;
}

/** How often processes without the lease ask for it. */
const TAKEN_EVERY_MS = 1_000;
/** How often the holder looks for what is due. */
const LOOKED_EVERY_MS = 250;
const FORGOTTEN_EVERY_MS = 60_000;

/** Delivers to targets what is due. One process at a time does this for all targets. */
export function startDeliveringDue(ports: DueWorkerPorts): Worker {
  const lease = new Lease(ports.store.outbox, ports, "deliveries");
  return startRepeating(ports, {
    everyMs: TAKEN_EVERY_MS,
    failure: "deliveries to targets are late",
    lease,
    async work(stopping) {
      if (!(await lease.take())) return;
      const deliveries = new Deliveries(ports, lease);
      try {
        while (!stopping.aborted && !deliveries.isLost && (await lease.renew())) await deliveries.lookOnce(stopping);
      } finally {
        await deliveries.finish();
      }
    },
  });
}

interface Open {
  /** The target as it was at the start of the delivery. */
  readonly described: string;
  readonly name: string;
  readonly delivery: DueDelivery;
  readonly teller: Teller;
}

/** The deliveries of the holder of the lease: one for each target with something due or under way. */
class Deliveries {
  readonly #ports: DueWorkerPorts;
  readonly #lease: Lease;
  readonly #open = new Map<number, Open>();
  readonly #logFailure: ReturnType<typeof failureLog>;
  /** Time by the stopwatch. */
  #forgottenAt = Number.NEGATIVE_INFINITY;
  /** Ends the pause before the next look. */
  #pause = new AbortController();

  constructor(ports: DueWorkerPorts, lease: Lease) {
    this.#ports = ports;
    this.#lease = lease;
    this.#logFailure = failureLog(ports);
  }

  /** Whether another process may deliver by now. */
  get isLost(): boolean {
    return [...this.#open.values()].some(({ delivery }) => delivery.isLost);
  }

  /** Looks for what is due, and waits until the next look. */
  async lookOnce(stopping: AbortSignal): Promise<void> {
    this.#pause = new AbortController();
    const pause = AbortSignal.any([stopping, this.#pause.signal]);
    await this.#look();
    await this.#ports.sleep(LOOKED_EVERY_MS, pause);
  }

  async #look(): Promise<void> {
    const { store, clock, stopwatch } = this.#ports;
    const due = new Set(await store.due.targetsDue(clock()));
    if (due.size > 0 || this.#open.size > 0) {
      const targets = new Map((await store.outbox.targets()).map((target) => [target.id, target]));
      for (const id of this.#open.keys()) await this.#closeUnlessWanted(id, targets.get(id), due.has(id));
      for (const id of due) this.#begin(targets.get(id));
      await Promise.all(Array.from(this.#open, ([id, open]) => this.#continue(id, open)));
    }
    if (stopwatch() - this.#forgottenAt < FORGOTTEN_EVERY_MS) return;
    if ((await store.due.forget(clock())) === 0) this.#forgottenAt = stopwatch();
  }

  /** A changed target (secret, URL) begins anew after the open attempts end. */
  async #closeUnlessWanted(id: number, target: Target | undefined, isDue: boolean): Promise<void> {
    const { delivery, described, teller } = this.#open.get(id) as Open;
    const isSame = target !== undefined && !target.paused && JSON.stringify(target) === described;
    if (isSame && (isDue || !delivery.isIdle)) return;
    this.#open.delete(id);
    await delivery.finish();
    await teller.close();
  }

  #begin(target: Target | undefined): void {
    if (target === undefined || target.paused || this.#open.has(target.id)) return;
    const { random, store, createTeller } = this.#ports;
    const teller = createTeller(target);
    const delivery = new DueDelivery(target, this.#lease, {
      ...this.#ports,
      store: store.due,
      random: () => (random(1)[0] ?? 0) / 256,
      prepare: (...given) => teller.prepare(...given),
      wake: () => this.#pause.abort(),
    });
    this.#open.set(target.id, { described: JSON.stringify(target), name: target.name, delivery, teller });
  }

  /** An error at one target does not stop the others. */
  async #continue(id: number, { delivery, teller, name }: Open): Promise<void> {
    try {
      await delivery.look();
    } catch (error) {
      this.#logFailure(error, { target: name }, "the delivery to the target begins again");
      // While the store is briefly unavailable, the state in memory stays valid.
      if (error instanceof StoreUnavailable) return;
      this.#open.delete(id);
      await delivery.finish().catch(() => {});
      await teller.close();
    }
  }

  /** Waits for the open attempts, and records them. */
  async finish(): Promise<void> {
    const open = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(
      open.map(async ({ delivery, teller }) => {
        try {
          await delivery.finish();
        } finally {
          await teller.close();
        }
      }),
    );
  }
}
