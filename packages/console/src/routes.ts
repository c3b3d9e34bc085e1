import type { ComponentType } from "react";
import type { Permission } from "./api/request.ts";
import type { PageProps } from "./page-props.ts";
import { texts } from "./texts/index.ts";

type NavGroup = keyof typeof texts.shell.groups;

export interface PageRoute {
  readonly path: string;
  readonly title: string;
  readonly permission: Permission;
  readonly load: () => Promise<{ default: ComponentType<PageProps> }>;
  /** Place in the navigation, and the letter after `g` that opens the page. */
  readonly nav: { readonly group: NavGroup; readonly key: string } | undefined;
}

/** All pages, in the order of the navigation. */
export const ROUTES: readonly PageRoute[] = [
  page("/", "overview", "read", () => import("./pages/overview/overview.tsx"), "work", "o"),
  page("/customers", "customers", "read", () => import("./pages/customers/customers.tsx"), "work", "c"),
  page("/customers/:cuid", "customer", "read", () => import("./pages/customers/customer.tsx")),
  page("/transactions", "transactions", "read", () => import("./pages/transactions/transactions.tsx"), "work", "t"),
  page("/transactions/:id", "transaction", "read", () => import("./pages/transactions/transaction.tsx")),
  page("/refused-calls", "refusedCalls", "read", () => import("./pages/refused-calls/refused-calls.tsx"), "work", "f"),
  page("/bulk", "bulk", "correct", () => import("./pages/bulk/bulk.tsx"), "work", "b"),
  page("/bulk/:id", "bulkRun", "correct", () => import("./pages/bulk/bulk-run.tsx")),
  page("/partners", "partners", "read", () => import("./pages/partners/partners.tsx"), "provider", "p"),
  page("/partners/:name", "partner", "read", () => import("./pages/partners/partner.tsx")),
  page("/catalogue", "catalogue", "read", () => import("./pages/catalogue/catalogue.tsx"), "provider", "k"),
  page("/imports", "imports", "read", () => import("./pages/imports/imports.tsx"), "provider", "i"),
  page("/imports/:id", "import", "read", () => import("./pages/imports/import.tsx")),
  page("/settlement", "settlement", "settle", () => import("./pages/settlement/settlement.tsx"), "money", "s"),
  page(
    "/reconciliation",
    "reconciliation",
    "settle",
    () => import("./pages/settlement/reconciliation.tsx"),
    "money",
    "r",
  ),
  page("/targets", "targets", "read", () => import("./pages/targets/targets.tsx"), "system", "e"),
  page("/targets/:name", "target", "read", () => import("./pages/targets/target.tsx")),
  page("/audit", "audit", "read", () => import("./pages/audit/audit.tsx"), "system", "a"),
  page("/staff", "staff", "administer", () => import("./pages/staff/staff.tsx"), "system", "u"),
  page("/health", "health", "read", () => import("./pages/health/health.tsx"), "system", "h"),
  page("/account", "account", "read", () => import("./pages/account/account.tsx")),
];

function page(
  path: string,
  name: keyof typeof texts.shell.pages,
  permission: Permission,
  load: PageRoute["load"],
  group?: NavGroup,
  key?: string,
): PageRoute {
  const nav = group === undefined || key === undefined ? undefined : { group, key };
  return { path, title: texts.shell.pages[name], permission, load, nav };
}
