import { type Mutant, TOP_UP, takes } from "./mutant.ts";

/** What costs somebody money, and is noted. */
export const MONEY_MUTANTS: readonly Mutant[] = [
  { name: "any amount taken", caught: ["money-amount"], change: { takesAnyAmount: true } },
  { name: "another customer's checkoutId taken", caught: ["money-customer"], change: { takesAnyOther: "cuid" } },
  { name: "a top-up without a token taken", caught: ["money-token"], change: takes("missing_token", TOP_UP) },
];
