import type { CompiledQuery } from "kysely";
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
import { DeliveryFailed, type Sender } from "../services/workers/sender.ts";
import { RadiusDatabase } from "./radius-database.ts";

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
    let differences = await this.differencesOf(user, signal);
    for (let round = 1; differences.length > 0; round += 1) {
      if (round > MOST_ROUNDS) throw new DeliveryFailed("others keep writing the same rows of the RADIUS database");
      await this.write(differences, signal);
      if (!differences.some(({ wanted, kept }) => wanted !== undefined && kept === undefined)) return;
      // No unique index keeps two who write at once from adding the same row. What another has changed is left to it.
      differences = (await this.differencesOf(user, signal)).filter(({ found }) => found.length > 1);
    }
  }

  /** A database that compares names without case gives FreeRADIUS the rows of all of them, and so they are all the user's. */
  async differencesOf(user: RadiusUser, signal?: AbortSignal): Promise<RadiusDifference[]> {
    return radiusDifferences(user, await this.#read([user.username], signal));
  }

  /** Those of some users whose rows may not be as they are to be. */
  async findDiffering(users: readonly RadiusUser[]): Promise<RadiusUser[]> {
    const rows = new Map<string, RadiusRow[]>(users.map(({ username }) => [username, []]));
    for (const row of await this.#read([...rows.keys()])) rows.get(row.username)?.push(row);
    return users.filter((user) => radiusDifferences(user, rows.get(user.username) ?? []).length > 0);
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

  /** What another has changed meanwhile may be left, or stand twice: the rows are to be read again. */
  write(differences: readonly RadiusDifference[], signal?: AbortSignal): Promise<void> {
    return this.#database.transact(async (ask) => {
      for (const difference of differences)
        for (const query of difference.kind === "group" ? this.#groupWrites(difference) : this.#checkWrites(difference))
          await ask(query);
    }, signal);
  }

  #checkWrites({ username, kind, found, wanted, kept }: RadiusDifference): CompiledQuery[] {
    const { build } = this.#database;
    const removed = found.flatMap((row) => (row === kept || row.id === undefined ? [] : [row.id]));
    const removal = build.deleteFrom("radcheck").where("id", "in", removed);
    const row = { attribute: kind, op: ":=", value: wanted ?? "" };
    const change = build
      .updateTable("radcheck")
      .set(row)
      .where("id", "=", kept?.id ?? 0);
    const addition = build.insertInto("radcheck").values({ username, ...row });
    return [
      ...(removed.length === 0 ? [] : [removal.compile()]),
      ...(kept === undefined || kept.value === wanted ? [] : [change.compile()]),
      ...(kept === undefined && wanted !== undefined ? [addition.compile()] : []),
    ];
  }

  #groupWrites({ username, found, wanted = "", kept }: RadiusDifference): CompiledQuery[] {
    const { build } = this.#database;
    const groups = found.map(({ value }) => value);
    // In place, so that it keeps its priority.
    if (kept !== undefined)
      return [
        build
          .updateTable("radusergroup")
          .set({ groupname: wanted })
          .where("username", "=", username)
          .where("groupname", "=", kept.value)
          .compile(),
      ];
    const removal = build.deleteFrom("radusergroup").where("username", "=", username).where("groupname", "in", groups);
    const addition = build.insertInto("radusergroup").values({ username, groupname: wanted, priority: PRIORITY });
    return [...(groups.length === 0 ? [] : [removal.compile()]), addition.compile()];
  }
}
