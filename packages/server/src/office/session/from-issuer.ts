import { type AskedLogIn, type IssuerPerson, type IssuerProblem, readAuthTime } from "../../domain/issuer.ts";
import { type StaffMember, staffAdded, staffChanged } from "../../domain/staff.ts";
import type { Db } from "../../store/engine.ts";
import { decide } from "../decide.ts";
import { officeOf } from "../office.ts";
import { insertMember, nextId, readStaff, toMember, updateMember } from "../staff/sql.ts";
import { beginSession, type Device, type OpenedSession, type SessionPorts } from "./log-in.ts";

interface IssuerLogIn {
  /** Named in the audit trail. */
  readonly issuer: string;
  readonly asked: AskedLogIn;
  readonly device: Device;
}

/**
 * Logs a person in whom the issuer sent. The first log-in adds the account. Each later answer of the issuer updates the
 * role, even if it logs nobody in: without a role, the person's sessions end.
 */
export async function logInFromIssuer(
  ports: SessionPorts,
  person: IssuerPerson,
  { issuer, asked, device }: IssuerLogIn,
): Promise<OpenedSession | { readonly kind: IssuerProblem }> {
  const { role, subject } = person;
  const name = (await findBySubject(ports.store.engine.db, subject))?.name ?? person.name ?? "";
  const office = officeOf({ ...ports, actor: { name } }, { reason: `log-in with ${issuer}` });
  const { at } = office.by;
  const authenticatedAt = readAuthTime(person.authTime, asked, at);
  const settled = await decide<StaffMember | IssuerProblem>(office, "reference", async (tx) => {
    const known = await findBySubject(tx, subject);
    if (known !== undefined) {
      const after = { ...known, role };
      if (known.role === role) return { answer: after };
      const audit = [staffChanged("staff.role", known, after)];
      return { answer: after, change: { write: () => updateMember(tx, known, { role }), audit } };
    }
    if (role === undefined) return { answer: "no_role" };
    if (authenticatedAt === "not_recent") return { answer: authenticatedAt };
    if (name === "") return { answer: "no_name" };
    const staff = await readStaff(tx);
    if (staff.some((each) => each.name === name)) return { answer: "name_taken" };
    const isNew = {
      lastLogInAt: undefined,
      hasTotp: false,
      mustChangePassword: false,
      logsInWith: "oidc",
      tokenHash: undefined,
    } as const;
    const added = { id: nextId(staff, at), name, role, createdAt: at, ...isNew };
    const write = () => insertMember(tx, added, { password: null, oidcSubject: subject });
    return { answer: added, change: { write, audit: [staffAdded(added)] } };
  });
  if (typeof settled === "string") return { kind: settled };
  if (role === undefined) return { kind: "no_role" };
  if (authenticatedAt === "not_recent") return { kind: authenticatedAt };
  return (await beginSession(ports, settled, undefined, device, authenticatedAt)) ?? { kind: "failed" };
}

async function findBySubject(db: Db, subject: string): Promise<StaffMember | undefined> {
  const row = await db.selectFrom("staff").selectAll().where("oidcSubject", "=", subject).executeTakeFirst();
  return row && toMember(row);
}
