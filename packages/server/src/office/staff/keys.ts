import { type Static, Type } from "typebox";
import { hashSecret } from "../../domain/access-token.ts";
import { ROLES } from "../../domain/authority.ts";
import { Refused } from "../../domain/refused.ts";
import {
  formatStaffKey,
  STAFF_SECRET_RANDOM_BYTES,
  type StaffKey,
  type StaffMember,
  staffKeyAdded,
  staffKeyRemoved,
} from "../../domain/staff.ts";
import { isoTime, isoTimeOrNull } from "../../domain/wall-time.ts";
import type { Db } from "../../store/engine.ts";
import { RightsEnded } from "../../store/errors.ts";
import { InstantSchema, NameSchema, oneOf, onePage, orNull, pageOf } from "../common.ts";
import { decide } from "../decide.ts";
import type { Office } from "../office.ts";
import { type Operation, operation, type Shown } from "../operation.ts";
import { printable } from "../text.ts";
import { RoleInput, removed } from "./operations.ts";
import * as sql from "./sql.ts";

export const KeyName = Type.String({ description: "The key's name." });

const KEY = {
  name: Type.String(),
  role: orNull(
    oneOf(ROLES, "What it may do now: its role, as far as the role of its maker allows it; null if that is nothing."),
  ),
  madeBy: orNull(Type.String({ description: "The person who made it; null if it was made in the shell." })),
  createdAt: InstantSchema,
  lastUsedAt: orNull(InstantSchema),
};
export const StaffKeySchema = Type.Object(KEY, { title: "StaffKey" });
export const AddedStaffKeySchema = Type.Object(
  { ...KEY, key: Type.String({ description: "Shown only once." }) },
  { title: "AddedStaffKey" },
);

/* The keys of systems. */

const AS = { tag: "Staff", permission: "administer" } as const;
const CHANGES = { ...AS, asksPassword: true } as const;
const BY_NAME = ["name"] as const;
const KEY_COLUMNS = ["name", "role", "madeBy", "createdAt", "lastUsedAt"];
export const listStaffKeys = operation({
  ...AS,
  http: "GET /staff-keys",
  summary: "List the keys of systems",
  input: Type.Object({}),
  answer: pageOf(StaffKeySchema),
  cli: [
    {
      words: "staff key list",
      summary: "list keys with their last use (up to a minute late); their values are not shown",
      show: KEY_COLUMNS,
      examples: ["topupd staff key list", "topupd staff key list --json"],
    },
  ],
  run: async ({ store }) => onePage((await sql.readKeys(store.engine.db)).map(keyData)),
});

export const addStaffKey = operation({
  ...CHANGES,
  http: "POST /staff-keys",
  status: 201,
  isSecret: true,
  summary:
    "Make a key for a system: it is shown once, and stored nowhere. It never allows more than its maker's role does",
  refuses: ["conflict"],
  input: Type.Object({ name: NameSchema, role: RoleInput }),
  answer: AddedStaffKeySchema,
  cli: [
    {
      words: "staff key add",
      arguments: BY_NAME,
      show: keyLines,
      examples: ["topupd staff key add billing --role admin", "topupd staff key add crm --role viewer --json"],
    },
  ],
  async run(office, { name, role }) {
    const key = formatStaffKey(office.random(STAFF_SECRET_RANDOM_BYTES));
    return decide(office, "reference", async (tx) => {
      if ((await sql.readKeys(tx)).some((each) => each.name === name))
        throw new Refused("conflict", `there is a key named ${name} already`);
      const maker = await makerOf(office, tx);
      const { at: createdAt } = office.by;
      const added: StaffKey = { name, role, madeBy: maker?.name, createdAt, lastUsedAt: undefined };
      const write = () =>
        sql.insertKey(tx, { hash: hashSecret(key), name, role, makerId: maker?.id ?? null, createdAt });
      return { answer: { ...keyData(added), key }, change: { write, audit: [staffKeyAdded(added)] } };
    });
  },
});

export const removeStaffKey = operation({
  ...CHANGES,
  http: "DELETE /staff-keys/:name",
  summary: "Remove a key: it is refused everywhere from then on",
  input: Type.Object({ name: KeyName }),
  cli: [
    { words: "staff key remove", arguments: BY_NAME, show: removed, examples: ["topupd staff key remove billing"] },
  ],
  run: (office, { name }) =>
    decide(office, "reference", async (tx) => {
      const key = (await sql.readKeys(tx)).find((each) => each.name === name);
      if (key === undefined) throw new Refused("not_found", `there is no key named ${name}`);
      return { answer: undefined, change: { write: () => sql.deleteKey(tx, key), audit: [staffKeyRemoved(key)] } };
    }),
});

/** The person who makes a key; undefined in the shell. @throws RightsEnded if the person was removed meanwhile. */
async function makerOf({ by: { authority } }: Office, tx: Db): Promise<StaffMember | undefined> {
  if (authority === undefined || "keyHash" in authority) return undefined;
  const maker = (await sql.readStaff(tx)).find(({ id }) => id === authority.staffId);
  if (maker === undefined) throw new RightsEnded();
  return maker;
}

function keyData({ name, role, madeBy, createdAt, lastUsedAt }: StaffKey) {
  const times = { createdAt: isoTime(createdAt), lastUsedAt: isoTimeOrNull(lastUsedAt) };
  return { name, role: role ?? null, madeBy: madeBy ?? null, ...times };
}

/** Only the key goes to stdout, so that a shell can use it. */
function keyLines({ key, name, role }: Static<typeof AddedStaffKeySchema>): Shown {
  const note = `This is the only time that the key ${printable(name)} is shown. It has the role ${role}.\n`;
  return { out: `${key}\n`, note };
}

export const operations: readonly Operation[] = [listStaffKeys, addStaffKey, removeStaffKey];
