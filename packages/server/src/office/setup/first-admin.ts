import { Refused } from "../../domain/refused.ts";
import { type StaffMember, staffAdded } from "../../domain/staff.ts";
import type { Db } from "../../store/engine.ts";
import { decide } from "../decide.ts";
import type { Office } from "../office.ts";
import { hashNew } from "../staff/operations.ts";
import { insertMember, nextId, readStaff } from "../staff/sql.ts";

/** Whether there is no account: then the console offers to add the first admin. */
export async function lacksStaff(db: Db): Promise<boolean> {
  return (await readStaff(db)).length === 0;
}

/**
 * Adds the first account, an admin who chose the password. Of several at the same time, one is added.
 * @throws Refused if there is an account, or if the password is easily guessed.
 */
export async function addFirstAdmin(
  office: Office,
  { name, password }: { readonly name: string; readonly password: string },
): Promise<void> {
  const hashed = await hashNew(office, password, name);
  await decide(office, "reference", async (tx) => {
    if (!(await lacksStaff(tx))) throw new Refused("conflict", "the first admin was added already: log in");
    const { at } = office.by;
    const member: StaffMember = {
      ...{ id: nextId([], at), name, role: "admin", createdAt: at, lastLogInAt: undefined, tokenHash: undefined },
      ...{ hasTotp: false, mustChangePassword: false, logsInWith: "password" },
    };
    const write = () => insertMember(tx, member, { password: hashed, oidcSubject: null });
    return { answer: undefined, change: { write, audit: [staffAdded(member)] } };
  });
}
