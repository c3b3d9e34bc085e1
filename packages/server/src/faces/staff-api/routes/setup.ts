import { Type } from "typebox";
import { networkOf } from "../../../domain/address-list.ts";
import { Refused } from "../../../domain/refused.ts";
import { isSetUpCode } from "../../../domain/staff.ts";
import { officeOf } from "../../../office/office.ts";
import { beginAttempt } from "../../../office/session/log-in.ts";
import { addFirstAdmin, lacksStaff } from "../../../office/setup/first-admin.ts";
import { NewMemberName } from "../../../office/staff/operations.ts";
import { type AdminPorts, serviceDesk } from "../ports.ts";
import { Problem } from "../problems.ts";
import { route, tooManyAttempts, type Visitor } from "../route.ts";

/* The first admin, whom a person without an account adds. */

/** The author in the audit trail: nobody was logged in. */
const AUTHOR = { name: "first run" };

/**
 * Whether a person without an account can add the first admin. Also on this machine only with the code: who comes through
 * a proxy that says nothing looks the same.
 */
export async function canAddFirstAdmin({ store, passwordLogIn, isCounter, setUpCode }: AdminPorts): Promise<boolean> {
  if (!passwordLogIn || isCounter || setUpCode === undefined) return false;
  return lacksStaff(store.engine.db).catch(() => false);
}

/** Guesses are limited as log-ins are. @throws Problem or Refused */
async function checkCode(ports: AdminPorts, { address }: Visitor, code: string): Promise<void> {
  const attempt = await beginAttempt(ports, { name: "", source: networkOf(address), isKnown: false });
  if ("waitMs" in attempt) throw tooManyAttempts({ kind: "too_many_attempts", ...attempt });
  if (ports.setUpCode === undefined || !isSetUpCode(ports.setUpCode, code)) {
    ports.logInFailed({
      outcome: "wrong_credentials",
      staff: undefined,
      address,
      cause: "the code of the first admin",
    });
    throw Refused.field("code", "is not the code of the log");
  }
  await attempt.succeeded();
}

export const setupRoutes = [
  route({
    method: "POST",
    path: "/setup/admin",
    tag: "Setup",
    permission: "public",
    summary: "Add the first admin, with the code that the log shows at the start",
    body: Type.Object({
      name: NewMemberName,
      password: Type.String({ maxLength: 256 }),
      code: Type.Optional(Type.String({ maxLength: 64 })),
    }),
    problems: ["conflict", "too_many_attempts"],
    async handle(ports, { visitor, body: { code = "", ...member } }) {
      if (!(await canAddFirstAdmin(ports)))
        throw new Problem("conflict", "You cannot add the first admin here: log in.");
      await checkCode(ports, visitor, code);
      await addFirstAdmin(officeOf(serviceDesk(ports, AUTHOR)), member);
    },
  }),
];
