import { account } from "./account.ts";
import { approvals } from "./approvals.ts";
import { audit } from "./audit.ts";
import { bulk } from "./bulk.ts";
import { catalogue } from "./catalogue.ts";
import { common } from "./common.ts";
import { customers } from "./customers.ts";
import { health } from "./health.ts";
import { imports } from "./imports.ts";
import { login } from "./login.ts";
import { overview } from "./overview.ts";
import { partnerAccounts } from "./partner-accounts.ts";
import { partners } from "./partners.ts";
import { refusedCalls } from "./refused-calls.ts";
import { settlement } from "./settlement.ts";
import { shell } from "./shell.ts";
import { staff } from "./staff.ts";
import { targets } from "./targets.ts";
import { transactions } from "./transactions.ts";

/** All texts of the console, one file per area. */
export const texts = {
  common,
  shell,
  login,
  overview,
  customers,
  transactions,
  approvals,
  bulk,
  refusedCalls,
  partners,
  partnerAccounts,
  catalogue,
  imports,
  settlement,
  targets,
  audit,
  staff,
  account,
  health,
} as const;
