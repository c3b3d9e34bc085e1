import { expect, test } from "vitest";
import { LIMIT_NAMES } from "../../server/src/domain/account.ts";
import { AUDIT_ACTIONS } from "../../server/src/domain/audit.ts";
import { LOOK_UPS } from "../../server/src/domain/partner-limits.ts";
import { FAILURES } from "../../server/src/partner/failures.ts";
import { texts } from "../src/texts/index.ts";

test("the audit trail has a label for every action", () => {
  expect(Object.keys(texts.audit.actions).toSorted()).toEqual(AUDIT_ACTIONS.toSorted());
});

test("every outcome of a refused call, and every limit, has a text", () => {
  const { reasons, details, filters } = texts.refusedCalls;
  const outcomes = [...Object.keys(FAILURES), "gave_up"].toSorted();
  expect(Object.keys(reasons).toSorted()).toEqual(outcomes);
  expect(filters.reason.options.map(([reason]) => reason).toSorted()).toEqual(outcomes);
  expect(Object.keys(details).toSorted()).toEqual([...LIMIT_NAMES, LOOK_UPS, "calls"].toSorted());
});
