import { perform } from "../../office/office.ts";
import { addPartner } from "../../office/partners/operations.ts";
import { findPartner } from "../../office/partners/sql.ts";
import { issueToken } from "../../office/partners/tokens.ts";
import { addStaff, changeStaff } from "../../office/staff/operations.ts";
import { readStaff } from "../../office/staff/sql.ts";
import type { DeskSession } from "./command.ts";
import { shellDesk } from "./desk.ts";

/** What is shown once. */
export interface Access {
  readonly token: string;
  readonly password: string;
}

const PASSWORD_BYTES = 12;

/** Makes a new trial token and a new password of an admin. @param name of the partner, and of the admin. */
export async function giveAccess(session: DeskSession, name: string): Promise<Access> {
  const { db } = session.store.engine;
  const desk = shellDesk(session);
  if ((await findPartner(db, name)) === undefined) await perform(addPartner, desk, { name });
  const { token } = await perform(issueToken, desk, { partner: name, environment: "trial" });
  const password = Buffer.from(session.random(PASSWORD_BYTES)).toString("base64url");
  const isThere = (await readStaff(db)).some((member) => member.name === name);
  if (isThere) await perform(changeStaff, desk, { name, password });
  else await perform(addStaff, desk, { name, role: "admin", password });
  return { token, password };
}
