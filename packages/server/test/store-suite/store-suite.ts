import { describe } from "vitest";
import { testAccess } from "./access.ts";
import { testAccountOperations, testAccountOperationsAtOnce } from "./account-operations.ts";
import { testAccountStatements, testAccountStatementsAtOnce } from "./account-statements.ts";
import { testAccounts } from "./accounts.ts";
import { testAlerts, testAlertsAtOnce } from "./alerts.ts";
import { testApprovals, testApprovalsAtOnce } from "./approvals.ts";
import { testArchives } from "./archives.ts";
import { testAuditTrail, testAuditTrailAtOnce } from "./audit-trail.ts";
import { testBatches } from "./batches.ts";
import { testBulk, testBulkAtOnce } from "./bulk.ts";
import { testCatalogueEdits } from "./catalogue-edits.ts";
import { testCatalogues } from "./catalogues.ts";
import { testCheck } from "./check.ts";
import { testCheckoutSecrets } from "./checkout-secrets.ts";
import { testCheckouts } from "./checkouts.ts";
import { testCorrections, testCorrectionsAtOnce } from "./corrections.ts";
import { testCustomerImports } from "./customer-imports.ts";
import { testCustomerOperations, testCustomerOperationsAtOnce } from "./customer-operations.ts";
import { testCustomers } from "./customers.ts";
import type { MakeDatabase } from "./database.ts";
import { testDatedCatalogues } from "./dated-catalogues.ts";
import { testDeliveries } from "./deliveries.ts";
import { testImports } from "./imports.ts";
import { testLimits, testLimitsAtOnce } from "./limits.ts";
import { testLookUps } from "./look-ups.ts";
import { testOutbox } from "./outbox.ts";
import { testPartnerWebhooks, testPartnerWebhooksAtOnce } from "./partner-webhooks.ts";
import { testProviderSettings } from "./provider-settings.ts";
import { testRefusals } from "./refusals.ts";
import { testRefusedCalls } from "./refused-calls.ts";
import { testRetention } from "./retention.ts";
import { testSearches } from "./searches.ts";
import { testSecondPersons, testSecondPersonsAtOnce } from "./second-persons.ts";
import { testServiceSteps } from "./service-steps.ts";
import { testSettlements } from "./settlements.ts";
import { testSetup, testSetupAtOnce } from "./setup.ts";
import { testShifts, testShiftsAtOnce } from "./shifts.ts";
import { testSnapshots } from "./snapshots.ts";
import { testStaff, testStaffAtOnce } from "./staff.ts";
import { testStatistics } from "./statistics.ts";
import { testTargets } from "./targets.ts";
import { testTaxes } from "./taxes.ts";
import { testTopUps } from "./top-ups.ts";
import { testTotals } from "./totals.ts";
import { testTransactionOperations } from "./transaction-operations.ts";

/** Every behaviour of the store. Both engines must pass this suite. */
export function testStore(name: string, makeDatabase: MakeDatabase): void {
  describe(name, () => {
    describe("provider settings", () => testProviderSettings(makeDatabase));
    describe("access", () => testAccess(makeDatabase));
    describe("checkout secrets", () => testCheckoutSecrets(makeDatabase));
    describe("catalogues", () => testCatalogues(makeDatabase));
    describe("dated changes of the catalogue", () => testDatedCatalogues(makeDatabase));
    describe("edits of the catalogue", () => testCatalogueEdits(makeDatabase));
    describe("customers", () => testCustomers(makeDatabase));
    describe("customer imports", () => testCustomerImports(makeDatabase));
    describe("top-ups", () => testTopUps(makeDatabase));
    describe("accounts", () => testAccounts(makeDatabase));
    describe("batches", () => testBatches(makeDatabase));
    describe("checkouts", () => testCheckouts(makeDatabase));
    describe("refusals", () => testRefusals(makeDatabase));
    describe("service steps", () => testServiceSteps(makeDatabase));
    describe("outbox", () => testOutbox(makeDatabase));
    describe("look-ups", () => testLookUps(makeDatabase));
    describe("refused calls", () => testRefusedCalls(makeDatabase));
    describe("retention", () => testRetention(makeDatabase));
    describe("check", () => testCheck(makeDatabase));
    describe("archives", () => testArchives(makeDatabase));
    describe("snapshots", () => testSnapshots(makeDatabase));
  });
}

/** What operations of the office do. Their SQL is rendered by one builder, so they run on one engine: see engines.test.ts. */
export function testOffice(makeDatabase: MakeDatabase): void {
  describe("the office", () => {
    describe("accounts of the office", () => testAccountOperations(makeDatabase));
    describe("statements of accounts", () => testAccountStatements(makeDatabase));
    describe("settlements", () => testSettlements(makeDatabase));
    describe("taxes", () => testTaxes(makeDatabase));
    describe("statistics", () => testStatistics(makeDatabase));
    describe("totals", () => testTotals(makeDatabase));
    describe("searches", () => testSearches(makeDatabase));
    describe("corrections", () => testCorrections(makeDatabase));
    describe("transactions of the office", () => testTransactionOperations(makeDatabase));
    describe("customers of the office", () => testCustomerOperations(makeDatabase));
    describe("bulk changes", () => testBulk(makeDatabase));
    describe("limits", () => testLimits(makeDatabase));
    describe("approvals", () => testApprovals(makeDatabase));
    describe("second persons", () => testSecondPersons(makeDatabase));
    describe("shifts", () => testShifts(makeDatabase));
    describe("targets", () => testTargets(makeDatabase));
    describe("deliveries", () => testDeliveries(makeDatabase));
    describe("webhooks of partners", () => testPartnerWebhooks(makeDatabase));
    describe("alerts", () => testAlerts(makeDatabase));
    describe("staff", () => testStaff(makeDatabase));
    describe("first run", () => testSetup(makeDatabase));
    describe("imports", () => testImports(makeDatabase));
    describe("audit trail", () => testAuditTrail(makeDatabase));
  });
}

/** Operations of the office at once, through several stores. Both engines must pass this suite: each has its own locks. */
export function testOfficeAtOnce(makeDatabase: MakeDatabase): void {
  describe("the office at once", () => {
    describe("accounts of the office", () => testAccountOperationsAtOnce(makeDatabase));
    describe("statements of accounts", () => testAccountStatementsAtOnce(makeDatabase));
    describe("corrections", () => testCorrectionsAtOnce(makeDatabase));
    describe("customers of the office", () => testCustomerOperationsAtOnce(makeDatabase));
    describe("bulk changes", () => testBulkAtOnce(makeDatabase));
    describe("limits", () => testLimitsAtOnce(makeDatabase));
    describe("approvals", () => testApprovalsAtOnce(makeDatabase));
    describe("second persons", () => testSecondPersonsAtOnce(makeDatabase));
    describe("shifts", () => testShiftsAtOnce(makeDatabase));
    describe("webhooks of partners", () => testPartnerWebhooksAtOnce(makeDatabase));
    describe("alerts", () => testAlertsAtOnce(makeDatabase));
    describe("staff", () => testStaffAtOnce(makeDatabase));
    describe("first run", () => testSetupAtOnce(makeDatabase));
    describe("audit trail", () => testAuditTrailAtOnce(makeDatabase));
  });
}
