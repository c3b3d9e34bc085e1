import { type CompiledQuery, sql } from "kysely";
import { type Connection, type ConnectionKey, isBlocked } from "../domain/customer.ts";
import { eventOf } from "../domain/event.ts";
import { foldName } from "../domain/names.ts";
import { portionsOf } from "../domain/portions.ts";
import {
  differenceText,
  managedGroups,
  type RadiusDifference,
  type RadiusRow,
  type RadiusRules,
  type RadiusUser,
  REJECT,
  radiusDifferences,
  radiusUser,
  radiusUserOf,
} from "../domain/radius.ts";
import { DeliveryFailed, type RadiusConfig, type Sender } from "../domain/target.ts";
import { createZone, type Instant, type Zone } from "../domain/wall-time.ts";
import type { RadiusCounts } from "../office/office.ts";
import { listCustomers } from "../store/customers.ts";
import type { Ports } from "../store/ports.ts";
import { RadiusDatabase } from "./radius-database.ts";

/** Databases may ignore trailing blanks in a name. */
function nameOf({ username }: { readonly username: string }): string {
  return foldName(username.trimEnd());
}

/** The default priority of FreeRADIUS's tables. */
const PRIORITY = 1;
/** Enough rounds if others write the same rows briefly. */
const MOST_ROUNDS = 5;

/** Writes the users of FreeRADIUS. @param provider `zone` is the zone of the subscriptions' times. */
export function createRadiusSender(config: RadiusConfig, { zone }: { readonly zone: Zone }): Sender {
  const users = new RadiusUsers(config, zone);
  return {
    async send(event, signal, exchange = {}) {
      if ("alert" in event) return;
      const { environment, service } = event.key;
      if (environment !== "production" || service !== config.service) return;
      const user = radiusUserOf(event, users.rules);
      const written = await users.settle(user, signal);
      exchange.request = written.map(differenceText).join("\n");
    },
    close: () => users.close(),
  };
}

/** The rows of users in FreeRADIUS's tables that topupd writes. */
class RadiusUsers {
  readonly rules: RadiusRules;
  readonly #database: RadiusDatabase;
  /** The groups that topupd sets. */
  readonly #managed: readonly string[];

  constructor(config: RadiusConfig, zone: Zone) {
    this.rules = { ...config, zone, radiusZone: createZone(config.timeZone) };
    this.#managed = managedGroups(config);
    this.#database = new RadiusDatabase(config.database);
  }

  /** Corrects a user's rows. @returns the first differences. */
  async settle(user: RadiusUser, signal?: AbortSignal): Promise<readonly RadiusDifference[]> {
    const first = await this.differencesOf([user], signal);
    let differences = first;
    for (let round = 1; differences.length > 0; round += 1) {
      if (round > MOST_ROUNDS) throw new DeliveryFailed("others keep writing the same rows of the RADIUS database");
      await this.write(differences, signal);
      if (!differences.some(({ wanted, kept }) => wanted !== undefined && kept === undefined)) return first;
      // No unique index prevents two writers from adding the same row: remove duplicates, and leave other changes to others.
      differences = (await this.differencesOf([user], signal)).filter(({ found }) => found.length > 1);
    }
    return first;
  }

  /** @param users at most one portion. Names are folded: a database may ignore case. */
  async differencesOf(users: readonly RadiusUser[], signal?: AbortSignal): Promise<RadiusDifference[]> {
    if (users.length === 0) return [];
    const rows = new Map<string, RadiusRow[]>(users.map((user) => [nameOf(user), []]));
    const usernames = users.map(({ username }) => username);
    for (const row of await this.#read(usernames, signal)) rows.get(nameOf(row))?.push(row);
    return users.flatMap((user) => radiusDifferences(user, rows.get(nameOf(user)) ?? []));
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  #read(usernames: readonly string[], signal?: AbortSignal): Promise<(RadiusRow & { readonly username: string })[]> {
    const { build } = this.#database;
    const checks = build
      .selectFrom("radcheck")
      .select(["id", "username", "attribute", "op", "value"])
      .where("username", "in", usernames)
      .where((eb) =>
        eb.or([eb("attribute", "=", "Expiration"), eb.and({ attribute: "Auth-Type", op: ":=", value: REJECT })]),
      )
      .orderBy("id")
      .compile();
    const groups = build
      .selectFrom("radusergroup")
      .select(["username", "groupname"])
      .where("username", "in", usernames)
      .where("groupname", "in", this.#managed)
      .orderBy("priority")
      .compile();
    return this.#database.use(async (ask) => {
      const checkRows = (await ask(checks)).map(({ id, username, attribute, op, value }) => {
        const kind = attribute.toLowerCase() === "expiration" ? ("Expiration" as const) : ("Auth-Type" as const);
        return { id, username, kind, value: op === ":=" ? value : `${op} ${value}` };
      });
      const groupRows = this.#managed.length === 0 ? [] : await ask(groups);
      const toRow = ({ username, groupname: value }: (typeof groupRows)[number]) => {
        return { id: undefined, username, kind: "group" as const, value };
      };
      return [...checkRows, ...groupRows.map(toRow)];
    }, signal);
  }

  /**
   * Writes a portion of differences in one transaction, with few statements. Rows that another writes meanwhile may be
   * wrong or duplicate: read them again.
   */
  write(differences: readonly RadiusDifference[], signal?: AbortSignal): Promise<void> {
    const checks = differences.filter(({ kind }) => kind !== "group");
    const groups = differences.filter(({ kind }) => kind === "group");
    const writes = [...this.#checkWrites(checks), ...this.#groupWrites(groups)];
    return this.#database.transact(async (ask) => {
      for (const query of writes) await ask(query);
    }, signal);
  }

  #checkWrites(differences: readonly RadiusDifference[]): CompiledQuery[] {
    const { build } = this.#database;
    const removed = differences.flatMap(({ found, kept }) =>
      found.flatMap((row) => (row === kept || row.id === undefined ? [] : [row.id])),
    );
    const changes = differences.filter(({ kept, wanted }) => kept !== undefined && kept.value !== wanted);
    const added = differences.flatMap(({ username, kind, kept, wanted }) =>
      kept !== undefined || wanted === undefined ? [] : [{ username, attribute: kind, op: ":=", value: wanted }],
    );
    const removal = build.deleteFrom("radcheck").where("id", "in", removed);
    const values = changes.map(({ kept, wanted }) => sql`WHEN ${kept?.id} THEN ${wanted}`);
    const ids = changes.map(({ kept }) => kept?.id ?? 0);
    const change = build
      .updateTable("radcheck")
      .set({ op: ":=", value: sql<string>`CASE id ${sql.join(values, sql` `)} END` })
      .where("id", "in", ids);
    return [
      ...(removed.length === 0 ? [] : [removal.compile()]),
      ...(changes.length === 0 ? [] : [change.compile()]),
      ...(added.length === 0 ? [] : [build.insertInto("radcheck").values(added).compile()]),
    ];
  }

  /** One statement for all users with the same change of groups. */
  #groupWrites(differences: readonly RadiusDifference[]): CompiledQuery[] {
    const { build } = this.#database;
    const moves = new Map<string, { readonly like: RadiusDifference; readonly names: string[] }>();
    for (const like of differences) {
      const { username, found, kept, wanted } = like;
      const move = JSON.stringify([kept === undefined, wanted, found.map(({ value }) => value)]);
      const same = moves.get(move) ?? { like, names: [] };
      same.names.push(username);
      moves.set(move, same);
    }
    return [...moves.values()].flatMap(({ like: { found, kept, wanted = "" }, names }) => {
      const groups = found.map(({ value }) => value);
      // An update keeps the row's priority.
      if (kept !== undefined)
        return build
          .updateTable("radusergroup")
          .set({ groupname: wanted })
          .where("username", "in", names)
          .where("groupname", "=", kept.value)
          .compile();
      const removal = build.deleteFrom("radusergroup").where("username", "in", names).where("groupname", "in", groups);
      const rows = names.map((username) => ({ username, groupname: wanted, priority: PRIORITY }));
      const addition = build.insertInto("radusergroup").values(rows).compile();
      return groups.length === 0 ? addition : [removal.compile(), addition];
    });
  }
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
  { store, clock }: Pick<Ports, "store" | "clock">,
  config: RadiusConfig,
  { isPreview }: { readonly isPreview: boolean },
  onDifference: (difference: RadiusDifference) => void,
): Promise<RadiusCounts> {
  const radius = new RadiusUsers(config, store.provider.zone);
  let [compared, differing] = [0, 0];
  const readPage = async (after: string | undefined) => {
    const page = await listCustomers(store.engine.db, "production", { after, limit: AT_ONCE });
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
    for (let round = 1; !isPreview && differences.length > 0 && round <= MOST_CORRECTED; round += 1) {
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

/** @returns undefined if the connection never had a subscription and is not blocked: the provider manages its user. */
function userOf(key: ConnectionKey, connection: Connection, now: Instant, rules: RadiusRules): RadiusUser | undefined {
  const hadAny = connection.ledgers.length > 0;
  if (!hadAny && !isBlocked(connection)) return undefined;
  const { state } = eventOf("subscription.changed", now, key, connection);
  return radiusUser({ ...state, username: key.reqId, hadAny }, now, rules);
}
