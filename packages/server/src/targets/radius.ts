import { type CompiledQuery, sql } from "kysely";
import { foldName } from "../domain/connection-name.ts";
import {
  managedGroups,
  type RadiusDifference,
  type RadiusRow,
  type RadiusRules,
  type RadiusUser,
  REJECT,
  radiusDifferences,
  radiusUserOf,
} from "../domain/radius.ts";
import type { RadiusConfig } from "../domain/target.ts";
import { createZone, type Zone } from "../domain/zone.ts";
import { DeliveryFailed, type Sender } from "../workers/sender.ts";
import { RadiusDatabase } from "./radius-database.ts";

/** Databases may also ignore blanks at the end of a name. */
function nameOf({ username }: { readonly username: string }): string {
  return foldName(username.trimEnd());
}

/** As FreeRADIUS's own tables have it where nothing is said. */
const PRIORITY = 1;
/** Others who write the same rows at once are soon done. */
const MOST_ROUNDS = 5;

/** Writes into FreeRADIUS's users. @param provider `zone`: of the wall times of subscriptions. */
export function createRadiusSender(config: RadiusConfig, { zone }: { readonly zone: Zone }): Sender {
  const users = new RadiusUsers(config, zone);
  return {
    async send(event, signal) {
      const { environment, service } = event.key;
      if (environment !== "production" || service !== config.service) return;
      const user = radiusUserOf(event, users.rules);
      await users.settle(user, signal);
    },
    close: () => users.close(),
  };
}

/** Users in FreeRADIUS's tables: the rows of theirs that topupd writes. */
export class RadiusUsers {
  readonly rules: RadiusRules;
  readonly #database: RadiusDatabase;
  /** The groups that users are put in and taken out of. */
  readonly #managed: readonly string[];

  constructor(config: RadiusConfig, zone: Zone) {
    this.rules = { ...config, zone, radiusZone: createZone(config.timeZone) };
    this.#managed = managedGroups(config);
    this.#database = new RadiusDatabase(config.database);
  }

  /** Writes what a user's rows lack. */
  async settle(user: RadiusUser, signal?: AbortSignal): Promise<void> {
    let differences = await this.differencesOf([user], signal);
    for (let round = 1; differences.length > 0; round += 1) {
      if (round > MOST_ROUNDS) throw new DeliveryFailed("others keep writing the same rows of the RADIUS database");
      await this.write(differences, signal);
      if (!differences.some(({ wanted, kept }) => wanted !== undefined && kept === undefined)) return;
      // No unique index keeps two who write at once from adding the same row. What another has changed is left to it.
      differences = (await this.differencesOf([user], signal)).filter(({ found }) => found.length > 1);
    }
  }

  /** @param users a portion at most. A database that ignores case gives FreeRADIUS the rows of every spelling of a name. */
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
   * Writes a portion of differences in one transaction, with few statements. Rows that another writes meanwhile may stay,
   * or be there twice: read them again.
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

  /** One statement for all users who leave the same groups for the same one. */
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
      // In place, so that it keeps its priority.
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
