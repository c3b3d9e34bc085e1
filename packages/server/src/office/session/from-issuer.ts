import type { IssuerPerson } from "../../domain/issuer.ts";
import { type StaffMember, staffAdded, staffChanged } from "../../domain/staff.ts";
import type { Db } from "../../store/engine.ts";
import { decide } from "../decide.ts";
import { officeOf } from "../office.ts";
import { insertMember, nextId, readStaff, toMember, updateMember } from "../staff/sql.ts";
import { beginSession, type Device, type OpenedSession, type SessionPorts } from "./log-in.ts";

/** `failed`: the account was removed in between. */
export type RefusedPerson = "no_role" | "no_name" | "name_taken" | "failed";

/**
 * Logs a person in whom the issuer sent. The first log-in adds the account; each later one updates the role.
 * @param issuer named in the audit trail.
 */
export async function logInFromIssuer(
  ports: SessionPorts,
  person: IssuerPerson,
  issuer: string,
  device: Device,
): Promise<OpenedSession | { readonly kind: RefusedPerson }> {
  const { role, subject } = person;
  if (role === undefined) return { kind: "no_role" };
  const name = (await findBySubject(ports.store.engine.db, subject))?.name ?? person.name;
  if (name === undefined) return { kind: "no_name" };
  const office = officeOf({ ...ports, actor: { name } }, { reason: `log-in with ${issuer}` });
  const { at } = office.by;
  const settled = await decide<StaffMember | undefined>(office, "reference", async (tx) => {
    const known = await findBySubject(tx, subject);
    if (known !== undefined) {
      const after = { ...known, role };
      if (known.role === role) return { answer: known };
      const audit = [staffChanged("staff.role", known, after)];
      return { answer: after, change: { write: () => updateMember(tx, known, { role }), audit } };
    }
    const staff = await readStaff(tx);
    if (staff.some((each) => each.name === name)) return { answer: undefined };
    const isNew = { lastLogInAt: undefined, hasTotp: false, mustChangePassword: false, logsInWith: "oidc" } as const;
    const added = { id: nextId(staff, at), name, role, createdAt: at, ...isNew };
    const write = () => insertMember(tx, added, { password: null, oidcSubject: subject });
    return { answer: added, change: { write, audit: [staffAdded(added)] } };
  });
  if (settled === undefined) return { kind: "name_taken" };
  const { authenticatedAt } = person;
  const proved = authenticatedAt === undefined ? undefined : Math.min(authenticatedAt, at);
  return (await beginSession(ports, settled, undefined, device, proved)) ?? { kind: "failed" };
}

async function findBySubject(db: Db, subject: string): Promise<StaffMember | undefined> {
  const row = await db.selectFrom("staff").selectAll().where("oidcSubject", "=", subject).executeTakeFirst();
  return row && toMember(row);
}
