import fc from "fast-check";
import { expect, test } from "vitest";
import { LIMIT_NAMES } from "../../src/domain/account.ts";
import { SERVICES } from "../../src/domain/bouquet.ts";
import { ENVIRONMENTS } from "../../src/domain/customer.ts";
import {
  connectionSubject,
  factSubject,
  isFact,
  partnersIdOf,
  readSubject,
  readWebhookId,
  webhookIdOf,
} from "../../src/domain/subject.ts";

const SITA = { environment: "production", service: "internet", reqId: "sita" } as const;
const ACCOUNT = { partnerId: 7, environment: "trial" } as const;

const anyText = fc.oneof(
  fc.string({ unit: "binary" }).filter((each) => each.isWellFormed()),
  fc.constantFrom("", " ", "a b", "sita\nram", "fact entry 7 trial 1", "सीता", "a.b_c-d/+", "%20"),
);
const account = { partnerId: fc.nat(), environment: fc.constantFrom(...ENVIRONMENTS) };
const connection = {
  environment: fc.constantFrom(...ENVIRONMENTS),
  service: fc.constantFrom(...SERVICES),
  reqId: anyText,
};
const day = fc.constantFrom("2026-11-28", "2027-01-01");
const fact = fc.oneof(
  fc.record({ kind: fc.constantFrom("topup" as const, "reversal" as const), ...account, txnId: anyText }),
  fc.record({ kind: fc.constant("entry" as const), ...account, reference: anyText }),
  fc.record({ kind: fc.constant("low" as const), ...account, at: fc.maxSafeNat() }),
  fc.record({ kind: fc.constant("limit" as const), ...account, limit: fc.constantFrom(...LIMIT_NAMES), day }),
  fc.record({ kind: fc.constant("lookups" as const), ...account, day }),
  fc.record({
    kind: fc.constant("ending" as const),
    ...connection,
    plan: anyText,
    end: fc.constantFrom("2026-12-10 09:00:00", "~"),
    days: fc.nat(),
  }),
);

test("the text of each subject is read back, and no two have the same", () => {
  fc.assert(
    fc.property(fact, fc.record(connection), (some, named) => {
      const [text, other] = [factSubject(some), connectionSubject(named)];
      expect(readSubject(text)).toEqual(some);
      expect(readSubject(other)).toEqual({ kind: "connection", ...named });
      expect([isFact(text), isFact(other)]).toEqual([true, false]);
    }),
  );
});

test("another text is no subject", () => {
  for (const text of ["", "sita", "connection production radio sita", "fact entry x trial 1", "fact limit 7 trial 1"])
    expect(readSubject(text)).toBeUndefined();
});

test("a connection's webhook-id differs in each attempt, and a fact's never changes", () => {
  const entry = factSubject({ kind: "entry", ...ACCOUNT, reference: "4711" });
  const name = Buffer.from("connection production internet sita").toString("base64url");
  expect(webhookIdOf(connectionSubject(SITA), 1_764_000_000_123)).toBe(`con_${name}_1764000000123`);
  expect(webhookIdOf(entry, 5)).toBe(webhookIdOf(entry, 6));
});

test("a webhook-id is read back, is short enough to be confirmed, and has no full stop", () => {
  fc.assert(
    fc.property(fact, fc.record(connection), fc.maxSafeNat(), (some, named, version) => {
      const [text, other] = [factSubject(some), connectionSubject(named)];
      expect(readWebhookId(webhookIdOf(text, version))).toEqual({ subject: text, version: undefined });
      expect(readWebhookId(webhookIdOf(other, version))).toEqual({ subject: other, version });
      expect(webhookIdOf(text, version) + webhookIdOf(other, version)).not.toContain(".");
    }),
  );
  const longest = connectionSubject({ ...SITA, reqId: "𝕊".repeat(64) });
  expect(webhookIdOf(longest, Number.MAX_SAFE_INTEGER).length).toBeLessThanOrEqual(512);
});

test("another text is no webhook-id", () => {
  for (const id of ["", "evt_1_2", "con_", "con_YWJj_", "con_YWJj_1x", "fact_YWJj", "con_YWJj_01", "fact_!"])
    expect(readWebhookId(id)).toBeUndefined();
});

test("a partner's fact keeps its id, with the environment where references may repeat", () => {
  expect(partnersIdOf({ kind: "topup", ...ACCOUNT, txnId: "01T" })).toBe("recorded_01T");
  expect(partnersIdOf({ kind: "reversal", ...ACCOUNT, txnId: "01T" })).toBe("reversed_01T");
  expect(partnersIdOf({ kind: "entry", ...ACCOUNT, reference: "a.b/c" })).toBe("trial_entry_a%2Eb%2Fc");
  expect(partnersIdOf({ kind: "low", partnerId: 7, environment: "production", at: 5 })).toBe("low_5");
});
