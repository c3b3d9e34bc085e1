import { expect, test } from "vitest";
import { AUDIT_ACTIONS } from "../../server/src/domain/audit.ts";
import { texts } from "../src/texts/index.ts";

test("the audit trail has a label for every action", () => {
  expect(Object.keys(texts.audit.actions).toSorted()).toEqual(AUDIT_ACTIONS.toSorted());
});
