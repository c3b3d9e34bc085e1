import type { AccountKey } from "../domain/account.ts";
import type { Outbox } from "../store/outbox.ts";
import { Lease, type WorkerPorts } from "./worker.ts";

/** How often to look for new events. */
const LOOKED_EVERY_MS = 250;

/** Shared by the webhooks of all partners, so that hundreds cost as much as one while nothing happens. */
export class PartnerWebhooks {
  readonly #ports: WorkerPorts;
  readonly #outbox: Outbox;
  #lease: Lease;
  /** The number of the last event of each account that had one since the first look. */
  readonly #lasts = new Map<string, number>();
  #seen: number | undefined;
  #seenAt = 0;
  #looking: Promise<void> | undefined;

  constructor(ports: WorkerPorts, outbox: Outbox) {
    this.#ports = ports;
    this.#outbox = outbox;
    this.#lease = this.#newLease();
  }

  /** A lost lease is replaced, so that deliveries that began under it end. */
  lease(): Lease {
    if (this.#lease.isLost) this.#lease = this.#newLease();
    return this.#lease;
  }

  release(): Promise<void> {
    return this.#lease.release();
  }

  /** Whether an account had an event after a number since the first call. */
  async hasMore({ partnerId, environment }: AccountKey, seq: number): Promise<boolean> {
    if (this.#seen === undefined || this.#ports.stopwatch() - this.#seenAt >= LOOKED_EVERY_MS)
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined;
      });
    await this.#looking;
    return (this.#lasts.get(`${partnerId} ${environment}`) ?? 0) > seq;
  }

  #newLease(): Lease {
    return new Lease(this.#outbox, this.#ports, "partners");
  }

  async #look(): Promise<void> {
    const at = this.#ports.stopwatch();
    const last = await this.#outbox.lastEvent();
    if (this.#seen !== undefined && last > this.#seen)
      for (const { partnerId, environment, seq } of await this.#outbox.lastOfPartners(this.#seen))
        this.#lasts.set(`${partnerId} ${environment}`, seq);
    this.#seen = last;
    this.#seenAt = at;
  }
}
