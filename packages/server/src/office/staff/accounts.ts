import { type AccountChange, isLastAdmin, type StaffMember, staffChanged } from "../../domain/staff.ts";
import { type Decider, decide } from "../office.ts";
import { Refused } from "../refused.ts";
import { type AccountValues, readStaff, updateMember } from "./sql.ts";

/** Changes of an account, each with its entry in the audit trail. */
export type AccountChanges = readonly (readonly [change: AccountChange, to: Partial<AccountValues>])[];

export const NO_TOTP = { totpSecret: undefined, totpStep: undefined, recoveryCodes: [] } as const;

/**
 * Changes an account and ends its sessions. @param keepSession the id of the only session that stays.
 * @throws Refused
 */
export function changeAccount(
  office: Decider,
  name: string,
  changes: AccountChanges,
  keepSession?: string,
): Promise<StaffMember> {
  return decide(office, "reference", async (tx) => {
    const staff = await readStaff(tx);
    const before = memberNamed(staff, name);
    const to = Object.assign({}, ...changes.map(([, values]) => values)) as Partial<AccountValues>;
    if ((to.role ?? "admin") !== "admin") refuseLastAdmin(staff, name);
    const hasTotp = "totpSecret" in to ? to.totpSecret !== undefined : before.hasTotp;
    const after = { ...before, role: to.role ?? before.role, hasTotp };
    const write = () => updateMember(tx, before, to, keepSession);
    const audit = changes.map(([change]) => staffChanged(change, before, after));
    return { answer: after, change: { write, audit } };
  });
}

/** @throws Refused if nobody could administer without this person. */
export function refuseLastAdmin(staff: readonly StaffMember[], name: string): void {
  if (isLastAdmin(staff, name))
    throw new Refused("conflict", `${name} is the last admin: give somebody else the role admin first`);
}

/** @throws Refused */
export function memberNamed(staff: readonly StaffMember[], name: string): StaffMember {
  const member = staff.find((each) => each.name === name);
  if (member === undefined) throw new Refused("not_found", `there is no account named ${name}`);
  return member;
}
