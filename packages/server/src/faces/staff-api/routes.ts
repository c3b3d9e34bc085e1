import * as commission from "../../office/accounts/commission.ts";
import * as accountEntries from "../../office/accounts/entries.ts";
import * as accounts from "../../office/accounts/operations.ts";
import * as statement from "../../office/accounts/statement.ts";
import * as alerts from "../../office/alerts/operations.ts";
import * as approvals from "../../office/approvals/operations.ts";
import * as audit from "../../office/audit/operations.ts";
import * as bulk from "../../office/bulk/operations.ts";
import * as catalogue from "../../office/catalogue/operations.ts";
import * as corrections from "../../office/corrections/operations.ts";
import * as customers from "../../office/customers/operations.ts";
import * as refusedCalls from "../../office/customers/refused-calls.ts";
import * as imports from "../../office/imports/operations.ts";
import type { Operation } from "../../office/operation.ts";
import * as partners from "../../office/partners/operations.ts";
import * as tokens from "../../office/partners/tokens.ts";
import * as practice from "../../office/practice/operations.ts";
import * as settlement from "../../office/settlement/operations.ts";
import * as setup from "../../office/setup/steps.ts";
import * as shifts from "../../office/shifts/operations.ts";
import * as staffKeys from "../../office/staff/keys.ts";
import * as staff from "../../office/staff/operations.ts";
import * as statistics from "../../office/statistics/operations.ts";
import * as steps from "../../office/steps/operations.ts";
import * as targetChange from "../../office/targets/change.ts";
import * as targets from "../../office/targets/operations.ts";
import * as webhooks from "../../office/targets/webhook.ts";
import * as taxes from "../../office/taxes/operations.ts";
import * as transactions from "../../office/transactions/operations.ts";
import { routeOf } from "./operation-route.ts";
import type { Route } from "./route.ts";
import { confirmationRoutes } from "./routes/confirmations.ts";
import { customerRoutes } from "./routes/customers.ts";
import { healthRoutes } from "./routes/health.ts";
import { sessionRoutes } from "./routes/session.ts";
import { setupRoutes } from "./routes/setup.ts";

/** The operations of all subjects. */
export const OPERATIONS: readonly Operation[] = [
  ...customers.operations,
  ...corrections.operations,
  ...bulk.operations,
  ...approvals.operations,
  ...transactions.operations,
  ...refusedCalls.operations,
  ...audit.operations,
  ...partners.operations,
  ...accounts.operations,
  ...accountEntries.operations,
  ...commission.operations,
  ...statement.operations,
  ...tokens.operations,
  ...practice.operations,
  ...setup.operations,
  ...staff.operations,
  ...staffKeys.operations,
  ...catalogue.operations,
  ...imports.operations,
  ...settlement.operations,
  ...taxes.operations,
  ...shifts.operations,
  ...targets.operations,
  ...targetChange.operations,
  ...webhooks.operations,
  ...steps.operations,
  ...statistics.operations,
  ...alerts.operations,
];

/** All routes of the staff API, in the order of the document. */
export const ROUTES: readonly Route[] = [
  ...sessionRoutes,
  ...setupRoutes,
  ...customerRoutes,
  ...healthRoutes,
  ...confirmationRoutes,
  ...OPERATIONS.map(routeOf),
];
