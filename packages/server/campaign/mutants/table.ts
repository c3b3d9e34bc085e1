import { FOUND_BY_CAMPAIGNS } from "./campaigns.ts";
import { IN_DOMAIN } from "./domain.ts";
import type { Mutant } from "./mutant.ts";

/** All planted faults. A test may be deleted only if the faults are still found without it. */
export const MUTANTS: readonly Mutant[] = [...FOUND_BY_CAMPAIGNS, ...IN_DOMAIN];
