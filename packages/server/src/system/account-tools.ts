import type { AccountTools } from "../services/staff/accounts.ts";
import type { Ports } from "../store/ports.ts";
import { checkPassword, HashQueue, hashPassword, type ScryptCost, USUAL_COST } from "./passwords.ts";

/** @param cost less than usual in tests alone. */
export function accountTools(
  { clock, random }: Pick<Ports, "clock" | "random">,
  cost: ScryptCost = USUAL_COST,
): AccountTools {
  // What one-time codes need is loaded where they are first asked for: few commands need it.
  const totp = () => import("./totp.ts");
  const queue = new HashQueue();
  return {
    hashPassword: (password) => queue.run(() => hashPassword(password, random, cost)),
    checkPassword: (password, hashed) => queue.run(() => checkPassword(password, hashed, cost)),
    offerTotp: async (name) => (await totp()).offerTotp(name, random),
    checkTotp: async (secret, code, after) => (await totp()).checkTotp(secret, code, clock(), after),
  };
}
