import { expect, test } from "vitest";
import { decideGoodwill } from "../../src/domain/correction.ts";
import { at, connectionWith, fold, MONTHLY, topUp, UTC } from "./builders.ts";

const KEY = { environment: "production", cuid: "7001", service: "internet", reqId: "fiber1" } as const;

test("goodwill reaches to the last moment that a calendar has, and no further", () => {
  const grants = [topUp("9999-11-30T23:59:59Z")];
  const snapshot = {
    connection: connectionWith({ subscriptions: [fold(grants)] }),
    ledgers: [{ plan: MONTHLY.plan, grants, isPruned: false }],
  };
  const grant = (days: number) => decideGoodwill(snapshot, { ...KEY, days, plan: undefined }, at("9999-12-01"), UTC);
  expect(grant(1)).toMatchObject({ kind: "granted", after: { end: UTC.last } });
  expect(grant(2)).toEqual({ kind: "too_long" });
});
