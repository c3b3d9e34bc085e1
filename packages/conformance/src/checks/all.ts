import type { Check } from "./check.ts";
import { CUSTOMER_CHECKS } from "./customer.ts";
import { LISTING_CHECKS } from "./listing.ts";
import { MONEY_CHECKS } from "./money.ts";
import { TOP_UP_CHECKS } from "./top-up.ts";
import { TOPUPD_LISTING_CHECKS } from "./topupd-listings.ts";
import { TOPUPD_PRACTICE_CHECKS } from "./topupd-practice.ts";
import { TOPUPD_REPEAT_CHECKS } from "./topupd-repeats.ts";
import { TOPUPD_REQUEST_CHECKS } from "./topupd-requests.ts";
import { TOPUPD_TOP_UP_CHECKS } from "./topupd-top-up.ts";
import { TOPUPD_WEBHOOK_CHECKS } from "./topupd-webhook.ts";
import { VERSIONS_CHECKS } from "./versions.ts";

/** All checks, in the order of the report. */
export const CHECKS: readonly Check[] = [
  ...CUSTOMER_CHECKS,
  ...LISTING_CHECKS,
  ...TOP_UP_CHECKS,
  ...MONEY_CHECKS,
  ...TOPUPD_REQUEST_CHECKS,
  ...TOPUPD_LISTING_CHECKS,
  ...TOPUPD_TOP_UP_CHECKS,
  ...TOPUPD_REPEAT_CHECKS,
  ...TOPUPD_PRACTICE_CHECKS,
  ...TOPUPD_WEBHOOK_CHECKS,
  ...VERSIONS_CHECKS,
];
