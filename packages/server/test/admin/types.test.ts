import { readFileSync } from "node:fs";
import type { Static, TSchema } from "typebox";
import { expect, test } from "vitest";
import type * as Told from "../../../console/src/api/types.ts";
import { openApiDocument } from "../../src/admin/openapi.ts";
import type { AuditEntrySchema } from "../../src/admin/routes/audit.ts";
import type { BulkPreviewSchema, BulkRunSchema } from "../../src/admin/routes/bulk.ts";
import type {
  BouquetSchema,
  CatalogueChangeSchema,
  CatalogueRevisionSchema,
  CatalogueSchema,
} from "../../src/admin/routes/catalogue.ts";
import type { HealthSchema } from "../../src/admin/routes/health.ts";
import type { HeldBackSchema, ImportRunSchema, UploadSchema } from "../../src/admin/routes/imports.ts";
import type {
  AccessTokenSchema,
  IssuedTokenSchema,
  ListedPartnerSchema,
  PartnerSchema,
  RotatedTokenSchema,
} from "../../src/admin/routes/partners.ts";
import type {
  MeSchema,
  RecoveryCodesSchema,
  StaffSessionSchema,
  TotpOfferSchema,
} from "../../src/admin/routes/session.ts";
import type { ReconciliationSchema, SettlementSchema } from "../../src/admin/routes/settlement.ts";
import type { AddedStaffKeySchema, StaffKeySchema, StaffMemberSchema } from "../../src/admin/routes/staff.ts";
import type { AttentionItemSchema, ShareSchema, StatisticsSchema } from "../../src/admin/routes/statistics.ts";
import type {
  AddedTargetSchema,
  AddTargetRequestSchema,
  FailedDeliverySchema,
  RotatedSecretSchema,
  TargetSchema,
} from "../../src/admin/routes/targets.ts";
import type { TransactionDetailSchema } from "../../src/admin/routes/transactions.ts";
import { ROUTES } from "../../src/admin/routes.ts";
import type { FieldChangeSchema, LargeChangeSchema, RejectedLineSchema } from "../../src/admin/schemas/common.ts";
import type {
  AttemptSchema,
  BlockEffectSchema,
  ComingEndSchema,
  CorrectionEffectSchema,
  CustomerMatchesSchema,
  CustomerMatchSchema,
  CustomerSchema,
  CustomerWrittenSchema,
  LedgerEntrySchema,
  LedgersSchema,
  RunSchema,
} from "../../src/admin/schemas/customers.ts";
import type { TransactionSchema, TransactionTotalsSchema } from "../../src/admin/schemas/transactions.ts";

/** Whether the console takes for an answer just what its schema says: otherwise `true` is a mistake that the compiler finds. */
type Same<Schema extends TSchema, Type> = [Static<Schema>] extends [Type]
  ? [Type] extends [Static<Schema>]
    ? true
    : never
  : never;

interface Compared {
  Me: Same<typeof MeSchema, Told.Me>;
  Provider: Same<typeof MeSchema.properties.provider, Told.Provider>;
  StaffSession: Same<typeof StaffSessionSchema, Told.StaffSession>;
  TotpOffer: Same<typeof TotpOfferSchema, Told.TotpOffer>;
  RecoveryCodes: Same<typeof RecoveryCodesSchema, Told.RecoveryCodes>;
  CustomerMatch: Same<typeof CustomerMatchSchema, Told.CustomerMatch>;
  CustomerMatches: Same<typeof CustomerMatchesSchema, Told.CustomerMatches>;
  Customer: Same<typeof CustomerSchema, Told.Customer>;
  CustomerWritten: Same<typeof CustomerWrittenSchema, Told.CustomerWritten>;
  Run: Same<typeof RunSchema, Told.Run>;
  LedgerEntry: Same<typeof LedgerEntrySchema, Told.LedgerEntry>;
  PlanLedger: Same<typeof LedgersSchema, { plans: Told.PlanLedger[] }>;
  CorrectionEffect: Same<typeof CorrectionEffectSchema, Told.CorrectionEffect>;
  BlockEffect: Same<typeof BlockEffectSchema, Told.BlockEffect>;
  ComingEnd: Same<typeof ComingEndSchema, Told.ComingEnd>;
  Attempt: Same<typeof AttemptSchema, Told.Attempt>;
  Transaction: Same<typeof TransactionSchema, Told.Transaction>;
  TransactionDetail: Same<typeof TransactionDetailSchema, Told.TransactionDetail>;
  TransactionTotals: Same<typeof TransactionTotalsSchema, Told.TransactionTotals>;
  BulkPreview: Same<typeof BulkPreviewSchema, Told.BulkPreview>;
  BulkRun: Same<typeof BulkRunSchema, Told.BulkRun>;
  Partner: Same<typeof PartnerSchema, Told.Partner>;
  ListedPartner: Same<typeof ListedPartnerSchema, Told.ListedPartner>;
  AccessToken: Same<typeof AccessTokenSchema, Told.AccessToken>;
  IssuedToken: Same<typeof IssuedTokenSchema, Told.IssuedToken>;
  RotatedToken: Same<typeof RotatedTokenSchema, Told.RotatedToken>;
  Bouquet: Same<typeof BouquetSchema, Told.Bouquet>;
  Catalogue: Same<typeof CatalogueSchema, Told.Catalogue>;
  CatalogueRevision: Same<typeof CatalogueRevisionSchema, Told.CatalogueRevision>;
  CatalogueChange: Same<typeof CatalogueChangeSchema, Told.CatalogueChange>;
  FieldChange: Same<typeof FieldChangeSchema, Told.FieldChange>;
  RejectedLine: Same<typeof RejectedLineSchema, Told.RejectedLine>;
  LargeChange: Same<typeof LargeChangeSchema, Told.LargeChange>;
  Upload: Same<typeof UploadSchema, Told.Upload>;
  ImportRun: Same<typeof ImportRunSchema, Told.ImportRun>;
  HeldBack: Same<typeof HeldBackSchema, Told.HeldBack>;
  Settlement: Same<typeof SettlementSchema, Told.Settlement>;
  Reconciliation: Same<typeof ReconciliationSchema, Told.Reconciliation>;
  Share: Same<typeof ShareSchema, Told.Share>;
  Statistics: Same<typeof StatisticsSchema, Told.Statistics>;
  AttentionItem: Same<typeof AttentionItemSchema, Told.AttentionItem>;
  Target: Same<typeof TargetSchema, Told.Target>;
  AddTargetRequest: Same<typeof AddTargetRequestSchema, Told.AddTargetRequest>;
  AddedTarget: Same<typeof AddedTargetSchema, Told.AddedTarget>;
  RotatedSecret: Same<typeof RotatedSecretSchema, Told.RotatedSecret>;
  FailedDelivery: Same<typeof FailedDeliverySchema, Told.FailedDelivery>;
  AuditEntry: Same<typeof AuditEntrySchema, Told.AuditEntry>;
  StaffMember: Same<typeof StaffMemberSchema, Told.StaffMember>;
  StaffKey: Same<typeof StaffKeySchema, Told.StaffKey>;
  AddedStaffKey: Same<typeof AddedStaffKeySchema, Told.AddedStaffKey>;
  Health: Same<typeof HealthSchema, Told.Health>;
}

const COMPARED: Compared = {
  Me: true,
  Provider: true,
  StaffSession: true,
  TotpOffer: true,
  RecoveryCodes: true,
  CustomerMatch: true,
  CustomerMatches: true,
  Customer: true,
  CustomerWritten: true,
  Run: true,
  LedgerEntry: true,
  PlanLedger: true,
  CorrectionEffect: true,
  BlockEffect: true,
  ComingEnd: true,
  Attempt: true,
  Transaction: true,
  TransactionDetail: true,
  TransactionTotals: true,
  BulkPreview: true,
  BulkRun: true,
  Partner: true,
  ListedPartner: true,
  AccessToken: true,
  IssuedToken: true,
  RotatedToken: true,
  Bouquet: true,
  Catalogue: true,
  CatalogueRevision: true,
  CatalogueChange: true,
  FieldChange: true,
  RejectedLine: true,
  LargeChange: true,
  Upload: true,
  ImportRun: true,
  HeldBack: true,
  Settlement: true,
  Reconciliation: true,
  Share: true,
  Statistics: true,
  AttentionItem: true,
  Target: true,
  AddTargetRequest: true,
  AddedTarget: true,
  RotatedSecret: true,
  FailedDelivery: true,
  AuditEntry: true,
  StaffMember: true,
  StaffKey: true,
  AddedStaffKey: true,
  Health: true,
};

test("every type of the console's that the staff API has a schema for is held against it", () => {
  const types = readFileSync(new URL("../../../console/src/api/types.ts", import.meta.url), "utf8");
  const ofConsole = [...types.matchAll(/^export interface (\w+)/gm)].map(([, name = ""]) => name);
  const { components } = openApiDocument(ROUTES, { version: "0.0.0", prefix: "/api/v1" });
  const ofServer = Object.keys((components as unknown as { readonly schemas: object }).schemas);
  // A failure is made in one place, and an event is for the provider's systems alone.
  expect(ofServer.filter((name) => !(name in COMPARED))).toEqual(["Problem", "ToldEvent"]);
  expect(Object.keys(COMPARED).filter((name) => !ofConsole.includes(name))).toEqual([]);
});
