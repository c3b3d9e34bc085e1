import { AddressList } from "../../src/domain/address-list.ts";
import { type Actor, type Desk, singlesOf } from "../../src/office/office.ts";
import type { Db, Engine } from "../../src/store/engine.ts";
import type { Ports } from "../../src/store/ports.ts";
import { wellState } from "../../src/system/service-state.ts";
import { targetTools } from "../../src/targets/tools.ts";
import { seededRandom } from "./random.ts";

/* What a face gives operations, also outside tests. */

/** Private addresses that targets may have. */
export const OWN_NETWORKS = new AddressList(["127.0.0.0/8", "10.0.0.0/8"]);

/** A desk whose engine checks the order of locks. */
export function deskOf(
  { store, clock, random = seededRandom(9) }: Pick<Ports, "store" | "clock"> & Partial<Pick<Ports, "random">>,
  actor: Actor = { name: "maya" },
  more: Partial<Desk> = {},
): Desk {
  return {
    ...({ accounts: undefined } as unknown as Pick<Desk, "accounts">),
    ...{ limits: undefined, currency: undefined, numberGrouping: "western", settings: [] },
    targets: targetTools({ clock, random }, OWN_NETWORKS),
    single: singlesOf({ store, clock }),
    state: wellState(),
    store: { ...store, engine: ordered(store.engine) },
    clock,
    random,
    actor,
    goOn: (work) => work(new AbortController().signal),
    progress() {},
    giveWay() {},
    sleep: async () => {},
    ...more,
  };
}

const ORDER = ["lockCustomers", "lockAuditTrail", "lockEvents"] as const;

/** An engine that refuses locks in any other order than customers, audit trail, events. */
function ordered(engine: Engine): Engine {
  const taken = new WeakMap<Db, number>();
  const locks = ORDER.map((name, rank) => {
    const lock = engine[name] as (tx: Db, ...rest: unknown[]) => Promise<void>;
    const inOrder = (tx: Db, ...rest: unknown[]) => {
      if ((taken.get(tx) ?? 0) > rank) throw new Error(`${name} after ${ORDER[taken.get(tx) ?? 0]}`);
      taken.set(tx, rank);
      return lock(tx, ...rest);
    };
    return [name, inOrder] as const;
  });
  return { ...engine, ...Object.fromEntries(locks) };
}
