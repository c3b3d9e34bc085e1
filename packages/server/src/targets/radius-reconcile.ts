import { type Connection, type ConnectionKey, type Customer, isBlocked } from "../domain/customer.ts";
import { eventOf } from "../domain/event.ts";
import { type RadiusDifference, type RadiusRules, type RadiusUser, radiusUser } from "../domain/radius.ts";
import type { RadiusConfig } from "../domain/target.ts";
import type { Instant } from "../domain/wall-time.ts";
import type { Ports } from "../services/ports.ts";
import { RadiusUsers } from "./radius.ts";

/** Few enough that top-ups of a running service are hardly held up. */
const CUSTOMERS_AT_ONCE = 500;
const USERS_AT_ONCE = 500;
const MENDED_AT_ONCE = 8;
/** A connection that changes while it is mended is soon as it stays. */
const MOST_ROUNDS = 5;

export interface RadiusReconciled {
  readonly compared: number;
  /** Users with a difference. */
  readonly differing: number;
}

/**
 * Compares all connections of production with what FreeRADIUS has of them, and mends that unless it is a dry run.
 * @param onDifference hears of each, as it was found.
 * @throws DeliveryFailed where the RADIUS database does not answer; what was mended until then stays.
 */
export async function reconcileRadius(
  { store, clock }: Pick<Ports, "store" | "clock">,
  config: RadiusConfig,
  { dryRun }: { readonly dryRun: boolean },
  onDifference: (difference: RadiusDifference) => void,
): Promise<RadiusReconciled> {
  const users = new RadiusUsers(config, store.provider.zone);
  let [compared, differing] = [0, 0];
  /** What is stored is looked up again after each write: a top-up may have come, and been written, meanwhile. */
  const mend = async (key: ConnectionKey): Promise<readonly RadiusDifference[]> => {
    let told: readonly RadiusDifference[] = [];
    for (let round = 1; round <= MOST_ROUNDS; round += 1) {
      const connection = (await store.findConnection(key))?.connection;
      const user = connection && userOf(key, connection, clock(), users.rules);
      const differences = user === undefined ? [] : await users.differencesOf(user);
      if (round === 1) told = differences;
      if (differences.length === 0 || dryRun) break;
      await users.write(differences);
    }
    return told;
  };
  const compare = async (keys: ReadonlyMap<RadiusUser, ConnectionKey>) => {
    compared += keys.size;
    const suspects = await users.findDiffering([...keys.keys()]);
    for (let from = 0; from < suspects.length; from += MENDED_AT_ONCE) {
      const some = suspects.slice(from, from + MENDED_AT_ONCE);
      for (const differences of await Promise.all(some.map((user) => mend(keys.get(user) as ConnectionKey)))) {
        if (differences.length > 0) differing += 1;
        for (const difference of differences) onDifference(difference);
      }
    }
  };
  try {
    let after: string | undefined;
    do {
      const page: Customer[] = await store.search.listCustomers("production", { after, limit: CUSTOMERS_AT_ONCE });
      const found = page.flatMap(({ cuid, connections }) =>
        connections.flatMap((connection) => {
          const { service, reqId } = connection;
          const key = { environment: "production", cuid, service, reqId } as const;
          const user = service === config.service ? userOf(key, connection, clock(), users.rules) : undefined;
          return user === undefined ? [] : [[user, key] as const];
        }),
      );
      for (let from = 0; from < found.length; from += USERS_AT_ONCE)
        await compare(new Map(found.slice(from, from + USERS_AT_ONCE)));
      after = page.at(-1)?.cuid;
    } while (after !== undefined);
    return { compared, differing };
  } finally {
    await users.close();
  }
}

/** @returns undefined where it never had a subscription and is not blocked: its user is the provider's own. */
function userOf(key: ConnectionKey, connection: Connection, now: Instant, rules: RadiusRules): RadiusUser | undefined {
  const hadAny = connection.ledgers.length > 0;
  if (!hadAny && !isBlocked(connection)) return undefined;
  const { state } = eventOf("subscription.changed", now, key, connection);
  return radiusUser({ ...state, username: key.reqId, hadAny }, now, rules);
}
