import { describe, expect, test } from "vitest";
import { type CheckoutHolder, issueCheckout, openCheckout } from "../../src/domain/checkout.ts";
import type { CheckoutSecret } from "../../src/domain/checkout-secret.ts";
import { seededRandom } from "../support/random.ts";
import { at } from "./builders.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

const random = seededRandom(2);
// All sixteen secrets, so that an altered secret id names another one that exists.
const SECRETS: CheckoutSecret[] = Array.from({ length: 16 }, (_, id) => ({
  id,
  key: random(32),
  createdAt: Number.MAX_SAFE_INTEGER - id,
}));
const SECRET = SECRETS[5] as CheckoutSecret;
const HOLDER: CheckoutHolder = { partnerId: 7, environment: "production" };
const FIBER = { environment: "production", cuid: "7001", service: "internet", reqId: "fiber1" } as const;
const QUOTE = { revision: 12, issuedAt: at("2026-11-20T09:00:00Z"), nonce: random(16) };
const CHECKOUT_ID = issueCheckout(SECRET, HOLDER, FIBER, QUOTE);

function opens(checkoutId: string, holder = HOLDER, secrets = SECRETS): boolean {
  return openCheckout(secrets, holder, checkoutId) !== undefined;
}

describe("a checkoutId opens", () => {
  test("as it was issued", () => {
    expect(opens(CHECKOUT_ID)).toBe(true);
  });
});

describe("a checkoutId does not open", () => {
  test("with any one of its 384 bits altered", () => {
    const opened: number[] = [];
    for (let bit = 0; bit < 384; bit += 1) {
      const bytes = Buffer.from(CHECKOUT_ID, "base64url");
      bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      if (opens(bytes.toString("base64url"))) opened.push(bit);
    }
    expect(opened).toEqual([]);
  });

  test("with any one of its characters exchanged for any other", () => {
    const opened = Array.from(CHECKOUT_ID).flatMap((original, place) =>
      Array.from(ALPHABET)
        .filter((character) => character !== original)
        .map((character) => CHECKOUT_ID.slice(0, place) + character + CHECKOUT_ID.slice(place + 1))
        .filter((altered) => opens(altered)),
    );
    expect(opened).toEqual([]);
  });

  test.each([
    ["empty", ""],
    ["cut short", CHECKOUT_ID.slice(0, -1)],
    ["longer", `${CHECKOUT_ID}A`],
    ["padded", `${CHECKOUT_ID}=`],
    ["followed by a blank", `${CHECKOUT_ID} `],
    ["followed by a new line", `${CHECKOUT_ID}\n`],
    ["preceded by a blank", ` ${CHECKOUT_ID}`],
    ["in other letters", CHECKOUT_ID.toLowerCase()],
    ["all zeros", "A".repeat(64)],
    ["all ones", "_".repeat(64)],
    ["of another script", "é".repeat(64)],
  ])("when it is %s", (_what, text) => {
    expect(opens(text)).toBe(false);
  });

  test("in the alphabet that is not for URLs, though it stands for the same bytes", () => {
    const inUrls = issueCheckout(SECRET, HOLDER, FIBER, { ...QUOTE, nonce: new Uint8Array(16).fill(255) });
    const inOther = inUrls.replaceAll("-", "+").replaceAll("_", "/");
    expect(inOther).not.toBe(inUrls);
    expect([opens(inUrls), opens(inOther)]).toEqual([true, false]);
  });

  test("for another partner, or in the other environment", () => {
    expect(opens(CHECKOUT_ID, { ...HOLDER, partnerId: 8 })).toBe(false);
    expect(opens(CHECKOUT_ID, { ...HOLDER, partnerId: 70 })).toBe(false);
    expect(opens(CHECKOUT_ID, { ...HOLDER, environment: "trial" })).toBe(false);
  });

  test("with another secret, with none, or with the same key under another id", () => {
    expect(opens(CHECKOUT_ID, HOLDER, [{ id: SECRET.id, key: random(32), createdAt: 0 }])).toBe(false);
    expect(opens(CHECKOUT_ID, HOLDER, [])).toBe(false);
    expect(opens(CHECKOUT_ID, HOLDER, [{ id: SECRET.id + 1, key: SECRET.key, createdAt: 0 }])).toBe(false);
  });

  test("put together from two that do", () => {
    const other = issueCheckout(SECRET, HOLDER, FIBER, { ...QUOTE, nonce: random(16) });
    for (let cut = 1; cut < 64; cut += 1) {
      const spliced = CHECKOUT_ID.slice(0, cut) + other.slice(cut);
      if (spliced !== other && spliced !== CHECKOUT_ID) expect(opens(spliced)).toBe(false);
    }
  });
});
