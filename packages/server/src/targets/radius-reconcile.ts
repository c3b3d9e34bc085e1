import { type Connection, type ConnectionKey, isBlocked } from "../domain/customer.ts";
import { eventOf } from "../domain/event.ts";
import { portionsOf } from "../domain/portions.ts";
import { type RadiusDifference, type RadiusRules, type RadiusUser, radiusUser } from "../domain/radius.ts";
import type { RadiusConfig } from "../domain/target.ts";
import type { Instant } from "../domain/wall-time.ts";
import type { RadiusCounts } from "../office/targets/tools.ts";
import type { Ports } from "../store/ports.ts";
import { RadiusUsers } from "./radius.ts";

/** Few enough for one statement each, and for locks that hold up events of theirs for a moment only. */
const AT_ONCE = 1_000;
/** A connection that changes while its user is written is soon as it stays. */
const MOST_ROUNDS = 5;

/**
 * Compares all connections of production and the target's service with their users in FreeRADIUS, and corrects these in
 * portions, unless it is a preview.
 * @param onDifference called with each, as it was found.
 * @throws DeliveryFailed if the RADIUS database fails; portions that were written until then stay.
 */
export async function reconcileRadius(
  { store, clock }: Pick<Ports, "store" | "clock">,
  config: RadiusConfig,
  { isPreview }: { readonly isPreview: boolean },
  onDifference: (difference: RadiusDifference) => void,
): Promise<RadiusCounts> {
  const radius = new RadiusUsers(config, store.provider.zone);
  let [compared, differing] = [0, 0];
  const readPage = async (after: string | undefined) => {
    const page = await store.listCustomers("production", { after, limit: AT_ONCE });
    const users = page.flatMap(({ cuid, connections }) =>
      connections.flatMap((connection) => {
        const { service, reqId } = connection;
        if (service !== config.service) return [];
        const key = { environment: "production", cuid, service, reqId } as const;
        return userOf(key, connection, clock(), radius.rules) ?? [];
      }),
    );
    return { users, last: page.at(-1)?.cuid };
  };
  const compare = async (users: readonly RadiusUser[], after: string | undefined) => {
    let differences = await radius.differencesOf(users);
    compared += users.length;
    differing += new Set(differences.map(({ username }) => username)).size;
    for (const difference of differences) onDifference(difference);
    for (let round = 1; !isPreview && differences.length > 0 && round <= MOST_ROUNDS; round += 1) {
      await radius.write(differences);
      // A top-up may have been recorded, and its event written, meanwhile.
      const written = new Set(differences.map(({ username }) => username));
      const again = (await readPage(after)).users.filter(({ username }) => written.has(username));
      differences = await radius.differencesOf(again);
    }
  };
  try {
    let after: string | undefined;
    do {
      const { users, last } = await readPage(after);
      for (const some of portionsOf(users, AT_ONCE)) await compare(some, after);
      after = last;
    } while (after !== undefined);
    return { compared, differing };
  } finally {
    await radius.close();
  }
}

/** @returns undefined where it never had a subscription and is not blocked: its user is the provider's own. */
function userOf(key: ConnectionKey, connection: Connection, now: Instant, rules: RadiusRules): RadiusUser | undefined {
  const hadAny = connection.ledgers.length > 0;
  if (!hadAny && !isBlocked(connection)) return undefined;
  const { state } = eventOf("subscription.changed", now, key, connection);
  return radiusUser({ ...state, username: key.reqId, hadAny }, now, rules);
}
