import { describe } from "vitest";
import { testAccess } from "./access.ts";
import { testArchives } from "./archives.ts";
import { testAttempts } from "./attempts.ts";
import { testAuditTrail } from "./audit-trail.ts";
import { testBatches } from "./batches.ts";
import { testBulk } from "./bulk.ts";
import { testCatalogues } from "./catalogues.ts";
import { testCheck } from "./check.ts";
import { testCheckoutSecrets } from "./checkout-secrets.ts";
import { testCheckouts } from "./checkouts.ts";
import { testCorrections } from "./corrections.ts";
import { testCustomerImports } from "./customer-imports.ts";
import { testCustomerOperations } from "./customer-operations.ts";
import { testCustomers } from "./customers.ts";
import type { MakeDatabase } from "./database.ts";
import { testImports } from "./imports.ts";
import { testOutbox } from "./outbox.ts";
import { testProviderSettings } from "./provider-settings.ts";
import { testRetention } from "./retention.ts";
import { testSearches } from "./searches.ts";
import { testSettlements } from "./settlements.ts";
import { testSnapshots } from "./snapshots.ts";
import { testStaff } from "./staff.ts";
import { testStatistics } from "./statistics.ts";
import { testTopUps } from "./top-ups.ts";
import { testTransactionOperations } from "./transaction-operations.ts";

/** Every behaviour of the port: whatever stands behind it passes this very suite. */
export function testStore(name: string, makeDatabase: MakeDatabase): void {
  describe(name, () => {
    describe("provider settings", () => testProviderSettings(makeDatabase));
    describe("access", () => testAccess(makeDatabase));
    describe("checkout secrets", () => testCheckoutSecrets(makeDatabase));
    describe("catalogues", () => testCatalogues(makeDatabase));
    describe("customers", () => testCustomers(makeDatabase));
    describe("customer imports", () => testCustomerImports(makeDatabase));
    describe("top-ups", () => testTopUps(makeDatabase));
    describe("batches", () => testBatches(makeDatabase));
    describe("checkouts", () => testCheckouts(makeDatabase));
    describe("searches", () => testSearches(makeDatabase));
    describe("settlements", () => testSettlements(makeDatabase));
    describe("statistics", () => testStatistics(makeDatabase));
    describe("corrections", () => testCorrections(makeDatabase));
    describe("transactions of the office", () => testTransactionOperations(makeDatabase));
    describe("customers of the office", () => testCustomerOperations(makeDatabase));
    describe("bulk corrections", () => testBulk(makeDatabase));
    describe("outbox", () => testOutbox(makeDatabase));
    describe("staff", () => testStaff(makeDatabase));
    describe("attempts", () => testAttempts(makeDatabase));
    describe("imports", () => testImports(makeDatabase));
    describe("audit trail", () => testAuditTrail(makeDatabase));
    describe("retention", () => testRetention(makeDatabase));
    describe("check", () => testCheck(makeDatabase));
    describe("archives", () => testArchives(makeDatabase));
    describe("snapshots", () => testSnapshots(makeDatabase));
  });
}
