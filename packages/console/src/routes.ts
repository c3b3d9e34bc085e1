import type { ComponentType } from "react";
import type { Permission } from "./api/names.ts";
import { texts } from "./texts/index.ts";

/** Decoded parts of the page's address. */
export interface PageProps {
  readonly params: Readonly<Record<string, string>>;
}

export interface PageRoute {
  readonly path: string;
  readonly title: string;
  readonly permission: Permission;
  readonly load: () => Promise<{ default: ComponentType<PageProps> }>;
  /** Place in the navigation, and the letter after `g` that opens the page. */
  readonly nav?: { readonly group: keyof typeof texts.shell.groups; readonly key: string };
}

const { pages } = texts.shell;

/** All pages, in the order of the navigation. */
export const ROUTES: readonly PageRoute[] = [
  {
    path: "/",
    title: pages.overview,
    permission: "read",
    load: () => import("./pages/overview/overview.tsx"),
    nav: { group: "work", key: "o" },
  },
  {
    path: "/customers",
    title: pages.customers,
    permission: "read",
    load: () => import("./pages/customers/customers.tsx"),
    nav: { group: "work", key: "c" },
  },
  {
    path: "/customers/:cuid",
    title: pages.customer,
    permission: "read",
    load: () => import("./pages/customers/customer.tsx"),
  },
  {
    path: "/transactions",
    title: pages.transactions,
    permission: "read",
    load: () => import("./pages/transactions/transactions.tsx"),
    nav: { group: "work", key: "t" },
  },
  {
    path: "/transactions/:id",
    title: pages.transaction,
    permission: "read",
    load: () => import("./pages/transactions/transaction.tsx"),
  },
  {
    path: "/bulk",
    title: pages.bulk,
    permission: "correct",
    load: () => import("./pages/bulk/bulk.tsx"),
    nav: { group: "work", key: "b" },
  },
  {
    path: "/partners",
    title: pages.partners,
    permission: "read",
    load: () => import("./pages/partners/partners.tsx"),
    nav: { group: "provider", key: "p" },
  },
  {
    path: "/partners/:name",
    title: pages.partner,
    permission: "read",
    load: () => import("./pages/partners/partner.tsx"),
  },
  {
    path: "/catalogue",
    title: pages.catalogue,
    permission: "read",
    load: () => import("./pages/catalogue/catalogue.tsx"),
    nav: { group: "provider", key: "k" },
  },
  {
    path: "/imports",
    title: pages.imports,
    permission: "read",
    load: () => import("./pages/imports/imports.tsx"),
    nav: { group: "provider", key: "i" },
  },
  {
    path: "/imports/:id",
    title: pages.import,
    permission: "read",
    load: () => import("./pages/imports/import.tsx"),
  },
  {
    path: "/settlement",
    title: pages.settlement,
    permission: "settle",
    load: () => import("./pages/settlement/settlement.tsx"),
    nav: { group: "money", key: "s" },
  },
  {
    path: "/reconciliation",
    title: pages.reconciliation,
    permission: "settle",
    load: () => import("./pages/settlement/reconciliation.tsx"),
    nav: { group: "money", key: "r" },
  },
  {
    path: "/targets",
    title: pages.targets,
    permission: "read",
    load: () => import("./pages/targets/targets.tsx"),
    nav: { group: "system", key: "e" },
  },
  {
    path: "/targets/:name",
    title: pages.target,
    permission: "read",
    load: () => import("./pages/targets/target.tsx"),
  },
  {
    path: "/audit",
    title: pages.audit,
    permission: "read",
    load: () => import("./pages/audit/audit.tsx"),
    nav: { group: "system", key: "a" },
  },
  {
    path: "/staff",
    title: pages.staff,
    permission: "administer",
    load: () => import("./pages/staff/staff.tsx"),
    nav: { group: "system", key: "u" },
  },
  {
    path: "/health",
    title: pages.health,
    permission: "read",
    load: () => import("./pages/health/health.tsx"),
    nav: { group: "system", key: "h" },
  },
  {
    path: "/account",
    title: pages.account,
    permission: "read",
    load: () => import("./pages/account/account.tsx"),
  },
];
