import { hashSecret } from "../../src/domain/access-token.ts";
import type { Attribution } from "../../src/domain/audit.ts";
import type { Authority, StaffRole } from "../../src/domain/authority.ts";
import type { StaffMember } from "../../src/domain/staff.ts";
import { addStaffKey, removeStaffKey } from "../../src/office/staff/keys.ts";
import { addStaff, removeStaff } from "../../src/office/staff/operations.ts";
import { type AccountChanges, changeAccount, readKeys, readStaff } from "../../src/office/staff/sql.ts";
import type { Store } from "../../src/store/store.ts";
import { deskOf, run } from "./desk.ts";
import { seededRandom } from "./random.ts";

export function keyHashOf(authority: Authority): Uint8Array {
  if (!("keyHash" in authority)) throw new Error("no key");
  return authority.keyHash;
}

/** Passwords that are stored as they are. */
const plainAccounts = { hashPassword: async (password: string) => `hash of ${password}` } as never;

/** No two keys are the same. */
const random = seededRandom(11);

/** Accounts and keys of a store, for tests of something else. */
export function staffOf(store: Store) {
  const { db } = store.engine;
  const deskFor = ({ author: name, authority, at }: Attribution) =>
    deskOf({ store, clock: () => at, random }, { name, authority }, { accounts: plainAccounts });
  return {
    list: () => readStaff(db),
    listKeys: () => readKeys(db),
    /** @throws Refused */
    async add(name: string, role: StaffRole, by: Attribution): Promise<StaffMember> {
      await run(deskFor(by), addStaff, { name, role, password: PASSWORD });
      return (await readStaff(db)).find((member) => member.name === name) as StaffMember;
    },
    change: (name: string, [change, to]: AccountChanges[number], by: Attribution, keepSession?: string) =>
      changeAccount({ store, by, isPreview: false, clock: () => by.at }, name, [[change, to]], keepSession),
    remove: (name: string, by: Attribution, endKeys?: true) =>
      run(deskFor(by), removeStaff, endKeys === undefined ? { name } : { name, endKeys }),
    /** @returns what a program that uses the key acts with. */
    async addKey(name: string, role: StaffRole, by: Attribution): Promise<Authority> {
      const { key } = await run(deskFor(by), addStaffKey, { name, role });
      return { keyHash: hashSecret(key), role };
    },
    removeKey: (name: string, by: Attribution) => run(deskFor(by), removeStaffKey, { name }),
  };
}

const PASSWORD = "kettle orbit fjord";
/** As it is stored. */
export const STORED_PASSWORD = `hash of ${PASSWORD}`;
