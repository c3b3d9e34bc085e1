import { describe } from "vitest";
import { testAccess } from "./access.ts";
import { testAccessTokens } from "./access-tokens.ts";
import { testArchives } from "./archives.ts";
import { testAuditTrail } from "./audit-trail.ts";
import { testBatches } from "./batches.ts";
import { testCatalogues } from "./catalogues.ts";
import { testCheck } from "./check.ts";
import { testCheckoutSecrets } from "./checkout-secrets.ts";
import { testConcludedCheckouts } from "./concluded-checkouts.ts";
import { testCorrections } from "./corrections.ts";
import { testCustomerImports } from "./customer-imports.ts";
import { testCustomers } from "./customers.ts";
import type { MakeDatabase } from "./database.ts";
import { testDecisionTime } from "./decision-time.ts";
import { testExports } from "./exports.ts";
import { testHistory } from "./history.ts";
import { testImportEffects } from "./import-effects.ts";
import { testLostRows } from "./lost-rows.ts";
import { testMobileNumbers } from "./mobile-numbers.ts";
import { testObservedBatches } from "./observed-batches.ts";
import { testPartners } from "./partners.ts";
import { testRaces } from "./races.ts";
import { testRefusals } from "./refusals.ts";
import { testRetention } from "./retention.ts";
import { testRetentionClock } from "./retention-clock.ts";
import { testReversals } from "./reversals.ts";
import { testSearches } from "./searches.ts";
import { testSettlements } from "./settlements.ts";
import { testSnapshots } from "./snapshots.ts";
import { testTopUps } from "./top-ups.ts";
import { testTransactions } from "./transactions.ts";
import { testZoneRules } from "./zone-rules.ts";

/** Every behaviour of the port: whatever stands behind it passes this very suite. */
export function testStore(name: string, makeDatabase: MakeDatabase): void {
  describe(name, () => {
    describe("partners", () => testPartners(makeDatabase));
    describe("access tokens", () => testAccessTokens(makeDatabase));
    describe("access", () => testAccess(makeDatabase));
    describe("checkout secrets", () => testCheckoutSecrets(makeDatabase));
    describe("lost rows", () => testLostRows(makeDatabase));
    describe("catalogues", () => testCatalogues(makeDatabase));
    describe("customers", () => testCustomers(makeDatabase));
    describe("customer imports", () => testCustomerImports(makeDatabase));
    describe("what an import does", () => testImportEffects(makeDatabase));
    describe("exports", () => testExports(makeDatabase));
    describe("mobile numbers", () => testMobileNumbers(makeDatabase));
    testSettling(makeDatabase);
    describe("searches", () => testSearches(makeDatabase));
    describe("settlements", () => testSettlements(makeDatabase));
    describe("corrections", () => testCorrections(makeDatabase));
    describe("reversals", () => testReversals(makeDatabase));
    describe("history", () => testHistory(makeDatabase));
    describe("audit trail", () => testAuditTrail(makeDatabase));
    describe("retention", () => testRetention(makeDatabase));
    describe("retention's clock", () => testRetentionClock(makeDatabase));
    describe("check", () => testCheck(makeDatabase));
    describe("archives", () => testArchives(makeDatabase));
    describe("zone rules", () => testZoneRules(makeDatabase));
    describe("snapshots", () => testSnapshots(makeDatabase));
  });
}

/** What depends on where and how top-ups are settled. */
export function testSettling(makeDatabase: MakeDatabase): void {
  describe("top-ups", () => testTopUps(makeDatabase));
  describe("refusals", () => testRefusals(makeDatabase));
  describe("batches", () => testBatches(makeDatabase));
  describe("observed batches", () => testObservedBatches(makeDatabase));
  describe("races", () => testRaces(makeDatabase));
  describe("decision time", () => testDecisionTime(makeDatabase));
  describe("transactions", () => testTransactions(makeDatabase));
  describe("concluded checkouts", () => testConcludedCheckouts(makeDatabase));
}
