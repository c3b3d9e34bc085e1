import { createCipheriv, createDecipheriv, createHmac } from "node:crypto";
import type { AccountKey } from "./account.ts";
import type { CheckoutSecret } from "./checkout.ts";

/*
 * Cursors of lists for partners. They are encrypted: a place contains a balance, and a URL can stay in logs.
 */

const ALGORITHM = "aes-256-gcm";
export const CURSOR_NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The only reader of a cursor. */
export interface CursorOwner extends AccountKey {
  readonly list: string;
}

/** @param nonce 12 random bytes. */
export function sealCursor(secret: CheckoutSecret, owner: CursorOwner, content: unknown, nonce: Uint8Array): string {
  const cipher = createCipheriv(ALGORITHM, keyOf(secret), nonce).setAAD(dataOf(owner));
  const sealed = Buffer.concat([cipher.update(JSON.stringify(content)), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64url");
}

/** @returns undefined if the cursor was not made here, was altered, or has another owner. */
export function openCursor(secrets: readonly CheckoutSecret[], owner: CursorOwner, cursor: string): unknown {
  const bytes = Buffer.from(cursor, "base64url");
  const [nonce, rest] = [bytes.subarray(0, CURSOR_NONCE_BYTES), bytes.subarray(CURSOR_NONCE_BYTES)];
  if (rest.length < TAG_BYTES) return undefined;
  for (const secret of secrets) {
    const decipher = createDecipheriv(ALGORITHM, keyOf(secret), nonce).setAAD(dataOf(owner));
    try {
      const content = decipher.setAuthTag(rest.subarray(0, TAG_BYTES)).update(rest.subarray(TAG_BYTES));
      return JSON.parse(Buffer.concat([content, decipher.final()]).toString());
    } catch {
      // Another secret made it, or none did.
    }
  }
  return undefined;
}

/** The secret itself signs checkoutIds. */
function keyOf({ key }: CheckoutSecret): Buffer {
  return createHmac("sha256", key).update("cursor").digest();
}

function dataOf({ list, partnerId, environment }: CursorOwner): Buffer {
  return Buffer.from(`${list} ${environment} ${partnerId}`);
}
