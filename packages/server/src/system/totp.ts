import { generateURI, ScureBase32Plugin, verify } from "otplib";
import type { TotpOffer } from "../domain/passwords.ts";
import type { Instant } from "../domain/wall-time.ts";

/** Length that RFC 4226 recommends. */
const SECRET_BYTES = 20;
/**
 * Length of a step. Codes of the previous and next step are accepted too, because clocks differ and typing takes time.
 */
const STEP_SECONDS = 30;

export function offerTotp(name: string, random: (bytes: number) => Uint8Array): TotpOffer {
  const secret = new ScureBase32Plugin().encode(random(SECRET_BYTES), { padding: false });
  return { secret, uri: generateURI({ issuer: "topupd", label: name, secret }) };
}

/** @returns the step of the code, later than the last accepted one; undefined if the code is wrong. */
export async function checkTotp(
  secret: string,
  code: string,
  now: Instant,
  after: number | undefined,
): Promise<number | undefined> {
  const token = code.replace(/\s/g, "");
  if (!/^\d{6}$/.test(token)) return undefined;
  const epoch = Math.floor(now / 1000);
  const result = await verify({ secret, token, epoch, period: STEP_SECONDS, epochTolerance: STEP_SECONDS });
  if (!result.valid || !("timeStep" in result)) return undefined;
  return after === undefined || result.timeStep > after ? result.timeStep : undefined;
}
