import { FOUND_BY_CAMPAIGNS } from "./campaigns.ts";
import { IN_CLIENTS } from "./clients.ts";
import { IN_CONSOLE } from "./console.ts";
import { IN_COUNTER } from "./counter.ts";
import { IN_DOMAIN } from "./domain.ts";
import { IN_DOORS } from "./doors.ts";
import { IN_DUE } from "./due.ts";
import { BETWEEN_ENGINES } from "./engines.ts";
import { IN_FACES } from "./faces.ts";
import { IN_LEDGER } from "./ledger.ts";
import { IN_MACHINE } from "./machine.ts";
import type { Mutant } from "./mutant.ts";
import { IN_OFFICE } from "./office.ts";
import { IN_PARTNER } from "./partner.ts";
import { IN_STORE } from "./store.ts";

/** All planted faults. A test may be deleted only if the faults are still found without it. */
export const MUTANTS: readonly Mutant[] = [
  ...FOUND_BY_CAMPAIGNS,
  ...IN_DOMAIN,
  ...IN_LEDGER,
  ...IN_DOORS,
  ...IN_PARTNER,
  ...IN_STORE,
  ...IN_DUE,
  ...BETWEEN_ENGINES,
  ...IN_COUNTER,
  ...IN_OFFICE,
  ...IN_FACES,
  ...IN_CONSOLE,
  ...IN_CLIENTS,
  ...IN_MACHINE,
];
