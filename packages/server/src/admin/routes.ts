import type { Route } from "./route.ts";
import { attemptRoutes } from "./routes/attempts.ts";
import { auditRoutes } from "./routes/audit.ts";
import { bulkRoutes } from "./routes/bulk.ts";
import { catalogueRoutes } from "./routes/catalogue.ts";
import { correctionRoutes } from "./routes/corrections.ts";
import { customerRoutes } from "./routes/customers.ts";
import { eventRoutes } from "./routes/events.ts";
import { healthRoutes } from "./routes/health.ts";
import { importRoutes } from "./routes/imports.ts";
import { partnerRoutes } from "./routes/partners.ts";
import { sessionRoutes } from "./routes/session.ts";
import { settlementRoutes } from "./routes/settlement.ts";
import { staffRoutes } from "./routes/staff.ts";
import { statisticsRoutes } from "./routes/statistics.ts";
import { targetRoutes } from "./routes/targets.ts";
import { transactionRoutes } from "./routes/transactions.ts";

/** Every operation of the staff API, in the order of the document. */
export const ROUTES: readonly Route[] = [
  ...sessionRoutes,
  ...customerRoutes,
  ...correctionRoutes,
  ...transactionRoutes,
  ...bulkRoutes,
  ...attemptRoutes,
  ...partnerRoutes,
  ...catalogueRoutes,
  ...importRoutes,
  ...settlementRoutes,
  ...statisticsRoutes,
  ...targetRoutes,
  ...eventRoutes,
  ...auditRoutes,
  ...staffRoutes,
  ...healthRoutes,
];
