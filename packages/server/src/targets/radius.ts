import { RadiusFailed, type RadiusUser, RadiusUsers } from "@topupd/radius";
import { type Connection, type ConnectionKey, isBlocked } from "../domain/customer.ts";
import { eventOf } from "../domain/event.ts";
import { foldName } from "../domain/names.ts";
import { portionsOf } from "../domain/portions.ts";
import {
  differenceText,
  managedGroups,
  type RadiusDifference,
  type RadiusRules,
  radiusUser,
  radiusUserOf,
  readRadiusAddress,
} from "../domain/radius.ts";
import { isUserOf } from "../domain/sessions.ts";
import { DeliveryFailed, type RadiusConfig, type Sender } from "../domain/target.ts";
import type { Instant, Zone } from "../domain/wall-time.ts";
import type { RadiusCounts } from "../office/office.ts";
import { listCustomers } from "../store/customers.ts";
import type { Ports } from "../store/ports.ts";
import type { AddressGuard } from "./address-guard.ts";

interface Place {
  /** Zone of the subscriptions' times. */
  readonly zone: Zone;
  readonly guard: AddressGuard;
}

/** Writes the users of FreeRADIUS. */
export function createRadiusSender(config: RadiusConfig, { zone, guard }: Place): Sender {
  const { users, refusePrivate } = openUsers(config, guard);
  const rules = { ...config, zone };
  return {
    async send(event, signal, exchange = {}) {
      if (!isUserOf(event, config)) return;
      refusePrivate();
      try {
        const written = await users.settle(radiusUserOf(event, rules), signal);
        exchange.request = written.map(differenceText).join("\n");
      } catch (error) {
        throw asDelivery(error);
      }
    },
    close: () => users.close(),
  };
}

function openUsers(config: RadiusConfig, { lookup, refuseLiteral }: AddressGuard) {
  const address = readRadiusAddress(config.database);
  if (typeof address === "string") throw new Error(`the RADIUS database ${address}`);
  const { timeZone } = config;
  const groups = managedGroups(config);
  const users = new RadiusUsers(address, { application: "topupd", timeZone, groups, fold: foldName, lookup });
  return { users, refusePrivate: () => refuseLiteral(address.host) };
}

function asDelivery(error: unknown): unknown {
  if (!(error instanceof RadiusFailed)) return error;
  return new DeliveryFailed(error.message, { cause: error, isAnswer: error.isAnswer });
}

/** Few enough for one statement, and for short locks. */
const AT_ONCE = 1_000;
/** Enough rounds if connections change during the write. */
const MOST_CORRECTED = 5;

/**
 * Compares all production connections of the target's service with their users in FreeRADIUS. Corrects the users in
 * portions, unless it is a preview.
 * @param onDifference called for each difference found.
 * @throws DeliveryFailed if the RADIUS database fails; portions that were written until then stay.
 */
export async function reconcileRadius(
  { store, clock, guard }: Pick<Ports, "store" | "clock"> & Pick<Place, "guard">,
  config: RadiusConfig,
  { isPreview }: { readonly isPreview: boolean },
  onDifference: (difference: RadiusDifference) => void,
): Promise<RadiusCounts> {
  const rules = { ...config, zone: store.provider.zone };
  const { users: radius, refusePrivate } = openUsers(config, guard);
  let [compared, differing] = [0, 0];
  const readPage = async (after: string | undefined) => {
    const page = await listCustomers(store.engine.db, "production", { after, limit: AT_ONCE });
    const users = page.flatMap(({ cuid, connections }) =>
      connections.flatMap((connection) => {
        const { service, reqId } = connection;
        if (service !== config.service) return [];
        const key = { environment: "production", cuid, service, reqId } as const;
        return userOf(key, connection, clock(), rules) ?? [];
      }),
    );
    return { users, last: page.at(-1)?.cuid };
  };
  /** Groups of others that hide that of a user in the garden. */
  const foreignGroups = async (users: readonly RadiusUser[]): Promise<RadiusDifference[]> => {
    if (config.expiredGroup === undefined) return [];
    const usernames = users.flatMap(({ username, group }) => (group === undefined ? [] : [username]));
    return (await radius.firstGroups(usernames)).map(({ username, group: value }) => {
      return {
        username,
        kind: "first group",
        found: [{ value }],
        wanted: users.find((each) => each.username === username)?.group,
      };
    });
  };
  const compare = async (users: readonly RadiusUser[], after: string | undefined) => {
    const rows = await radius.compare(users);
    const found = [...rows, ...(await foreignGroups(users))];
    compared += users.length;
    differing += new Set(found.map(({ username }) => username)).size;
    for (const difference of found) onDifference(difference);
    // Staff decide which case of a name is right.
    const isFixable = ({ kind }: RadiusDifference) => kind !== "username";
    let differences = rows.filter(isFixable);
    for (let round = 1; !isPreview && differences.length > 0 && round <= MOST_CORRECTED; round += 1) {
      await radius.write(differences);
      // A top-up may have been recorded, and its event written, meanwhile.
      const written = new Set(differences.map(({ username }) => username));
      const again = (await readPage(after)).users.filter(({ username }) => written.has(username));
      differences = (await radius.compare(again)).filter(isFixable);
    }
  };
  try {
    refusePrivate();
    let after: string | undefined;
    do {
      const { users, last } = await readPage(after);
      for (const some of portionsOf(users, AT_ONCE)) await compare(some, after);
      after = last;
    } while (after !== undefined);
    return { compared, differing };
  } catch (error) {
    throw asDelivery(error);
  } finally {
    await radius.close();
  }
}

/** @returns undefined if the connection never had a subscription and is not blocked: the provider manages its user. */
function userOf(key: ConnectionKey, connection: Connection, now: Instant, rules: RadiusRules): RadiusUser | undefined {
  const hadAny = connection.ledgers.length > 0;
  if (!hadAny && !isBlocked(connection)) return undefined;
  const { state } = eventOf("subscription.changed", now, key, connection);
  return radiusUser({ ...state, username: key.reqId, hadAny }, now, rules);
}
