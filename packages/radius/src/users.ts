import { type CompiledQuery, sql } from "kysely";
import { type ConnectionOptions, type RadiusAddress, RadiusDatabase, RadiusFailed } from "./database.ts";
import { expirationFormat, type RadiusUser, REJECT, type RowDifference, rowDifferences, type UserRow } from "./rows.ts";

/** The default priority of FreeRADIUS's tables. */
const PRIORITY = 1;
/** Enough rounds if others write the same rows briefly. */
const MOST_ROUNDS = 5;

export interface RadiusOptions extends ConnectionOptions {
  /** IANA name of the zone of the RADIUS server's clock. */
  readonly timeZone: string;
  /** The managed groups: a user is in at most one of them. Users keep their other groups. */
  readonly groups: readonly string[];
  /** Gives names that differ only by case or accents the same text: a database may take them for equal. */
  readonly fold: (username: string) => string;
}

/** The users in FreeRADIUS's tables. Its methods reject with RadiusFailed. */
export class RadiusUsers {
  readonly #database: RadiusDatabase;
  readonly #options: RadiusOptions;
  readonly #format: (end: number) => string;

  constructor(address: RadiusAddress, options: RadiusOptions) {
    this.#database = new RadiusDatabase(address, options);
    this.#options = options;
    this.#format = expirationFormat(options.timeZone);
  }

  /** Corrects a user's rows. @returns the first differences. */
  async settle(user: RadiusUser, signal?: AbortSignal): Promise<readonly RowDifference[]> {
    const first = await this.compare([user], signal);
    if (first.some(({ kind }) => kind === "username"))
      throw new RadiusFailed("the RADIUS database has this username in other case only", true);
    let differences = first;
    for (let round = 1; differences.length > 0; round += 1) {
      if (round > MOST_ROUNDS) throw new RadiusFailed("others keep writing the same rows of the RADIUS database");
      await this.write(differences, signal);
      if (!differences.some(({ wanted, kept }) => wanted !== undefined && kept === undefined)) return first;
      // No unique index prevents two writers from adding the same row: remove duplicates, and leave other changes to others.
      differences = (await this.compare([user], signal)).filter(({ found }) => found.length > 1);
    }
    return first;
  }

  /**
   * A user who has no rows yet, while the database has the name in other case only, has the single difference `username`.
   * @param users at most 1,000.
   */
  async compare(users: readonly RadiusUser[], signal?: AbortSignal): Promise<RowDifference[]> {
    if (users.length === 0) return [];
    // Databases may ignore trailing blanks in a name too.
    const nameOf = ({ username }: { readonly username: string }) => this.#options.fold(username.trimEnd());
    const rows = new Map<string, UserRow[]>(users.map((user) => [nameOf(user), []]));
    const usernames = users.map(({ username }) => username);
    for (const row of await this.#read(usernames, signal)) rows.get(nameOf(row))?.push(row);
    const differences = users.map((user) => rowDifferences(user, rows.get(nameOf(user)) ?? [], this.#format));
    const added = users.filter(
      (user, index) => rows.get(nameOf(user))?.length === 0 && differences[index]?.length !== 0,
    );
    const others = added.length === 0 ? undefined : await this.#otherCases(added, signal);
    return users.flatMap(({ username }, index) => {
      const value = others?.get(username);
      if (value === undefined) return differences[index] ?? [];
      const found = [{ id: undefined, kind: "username" as const, value }];
      return [{ username, kind: "username" as const, found, wanted: username, kept: undefined }];
    });
  }

  /** @returns a stored name by that of the user, if they differ in case and the database does not take them for one. */
  async #otherCases(users: readonly RadiusUser[], signal?: AbortSignal): Promise<Map<string, string>> {
    const usernames = users.map(({ username }) => username);
    const lower = usernames.map((username) => username.toLowerCase());
    const namesIn = (table: "radcheck" | "radusergroup") =>
      this.#database.build
        .selectFrom(table)
        .select((eb) => ["username", eb("username", "in", usernames).as("isSame")])
        .where(sql`lower(username)`, "in", lower);
    const stored = await this.#database.ask(namesIn("radcheck").union(namesIn("radusergroup")).compile(), signal);
    const others = new Map(stored.map(({ username }) => [username.toLowerCase(), username]));
    for (const { username, isSame } of stored) if (isSame) others.delete(username.toLowerCase());
    return new Map(
      usernames.flatMap((username) => {
        const other = others.get(username.toLowerCase());
        return other === undefined ? [] : [[username, other]];
      }),
    );
  }

  /** The groups of users that FreeRADIUS reads before the managed one, and that are not managed. @param usernames at most 1,000. */
  async firstGroups(
    usernames: readonly string[],
    signal?: AbortSignal,
  ): Promise<{ username: string; group: string }[]> {
    const managed = this.#options.groups;
    if (usernames.length === 0 || managed.length === 0) return [];
    const query = this.#database.build
      .selectFrom("radusergroup as g")
      .select(["g.username", "g.groupname as group"])
      .where("g.username", "in", usernames)
      .where("g.groupname", "not in", managed)
      .where((eb) => {
        const own = eb
          .selectFrom("radusergroup as m")
          .select((of) => of.fn.min("m.priority").as("first"))
          .whereRef("m.username", "=", "g.username")
          .where("m.groupname", "in", managed);
        // FreeRADIUS may read either of two groups with one priority first.
        return eb("g.priority", "<=", eb.fn.coalesce(own, eb.val(PRIORITY)));
      })
      .orderBy("g.username")
      .orderBy("g.priority")
      .compile();
    return this.#database.ask(query, signal);
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  async #read(
    usernames: readonly string[],
    signal?: AbortSignal,
  ): Promise<(UserRow & { readonly username: string })[]> {
    const { build } = this.#database;
    const managed = this.#options.groups;
    const checks = build
      .selectFrom("radcheck")
      .select(["id", "username", "attribute", "op", "value"])
      .where("username", "in", usernames)
      // FreeRADIUS ignores case in names of attributes and of their values.
      .where(
        sql<boolean>`(lower(attribute) = 'expiration'
          OR lower(attribute) = 'auth-type' AND op = ':=' AND lower(value) = ${REJECT.toLowerCase()})`,
      )
      .orderBy("id")
      .compile();
    const groups = build
      .selectFrom("radusergroup")
      .select(["username", "groupname"])
      .where("username", "in", usernames)
      .where("groupname", "in", managed)
      .orderBy("priority")
      .compile();
    const checkRows = (await this.#database.ask(checks, signal)).map(({ id, username, attribute, op, value }) => {
      const kind = attribute.toLowerCase() === "expiration" ? ("Expiration" as const) : ("Auth-Type" as const);
      return { id, username, kind, value: op === ":=" ? value : `${op} ${value}` };
    });
    const groupRows = managed.length === 0 ? [] : await this.#database.ask(groups, signal);
    const toRow = ({ username, groupname: value }: (typeof groupRows)[number]) => {
      return { id: undefined, username, kind: "group" as const, value };
    };
    return [...checkRows, ...groupRows.map(toRow)];
  }

  /**
   * Writes differences of at most 1,000 users in one transaction, with few statements. Rows that another writes meanwhile
   * may be wrong or duplicate: compare again.
   */
  write(differences: readonly RowDifference[], signal?: AbortSignal): Promise<void> {
    const checks = differences.filter(({ kind }) => kind === "Expiration" || kind === "Auth-Type");
    const groups = differences.filter(({ kind }) => kind === "group");
    return this.#database.transact([...this.#checkWrites(checks), ...this.#groupWrites(groups)], signal);
  }

  #checkWrites(differences: readonly RowDifference[]): CompiledQuery[] {
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
      .set({
        attribute: sql<string>`CASE lower(attribute) WHEN 'expiration' THEN 'Expiration' ELSE 'Auth-Type' END`,
        ...{ op: ":=", value: sql<string>`CASE id ${sql.join(values, sql` `)} END` },
      })
      .where("id", "in", ids);
    return [
      ...(removed.length === 0 ? [] : [removal.compile()]),
      ...(changes.length === 0 ? [] : [change.compile()]),
      ...(added.length === 0 ? [] : [build.insertInto("radcheck").values(added).compile()]),
    ];
  }

  /** One statement for all users with the same change of groups. */
  #groupWrites(differences: readonly RowDifference[]): CompiledQuery[] {
    const { build } = this.#database;
    const moves = new Map<string, { readonly like: RowDifference; readonly names: string[] }>();
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
