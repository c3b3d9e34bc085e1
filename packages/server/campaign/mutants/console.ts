import type { Mutant } from "./mutant.ts";

const CONSOLE = "packages/server/test/console/console.test.ts";

/** Faults in the pages of staff and sellers. */
export const IN_CONSOLE: readonly Mutant[] = [
  {
    fault: "a sale that will never be made is sent again",
    file: "packages/console/src/counter/sending.ts",
    from: 'if (outcome.state !== "open") return outcome;',
    to: 'if (outcome.state === "sold") return outcome;',
    test: "packages/console/test/sending.test.ts",
    title: "a sale that is open is sent again; one that will never be is not",
  },
  {
    fault: "a change that was cut off gets a new Idempotency-Key",
    file: "packages/console/src/api/keys.ts",
    from: "const isKnown = error instanceof ApiProblem && !error.mayBeDone && !error.isCutOff;",
    to: "const isKnown = error instanceof ApiProblem && !error.mayBeDone;",
    test: "packages/console/test/keys.test.ts",
    title: "stay while a request 'is cut off', so that it is done once",
  },
  {
    fault: "a debt is shown without its sign",
    file: "packages/console/src/format.ts",
    from: 'return sign + whole.replace(BOUNDARIES[grouping], ",") + rest;',
    to: 'return whole.replace(BOUNDARIES[grouping], ",") + rest;',
    test: "packages/console/test/format.test.ts",
    title: "groups the digits of an amount and keeps all of them",
  },
  {
    fault: "a figure is compared the wrong way round",
    file: "packages/console/src/format.ts",
    from: "const percent = Math.round((now / before - 1) * 100);",
    to: "const percent = Math.round((before / now - 1) * 100);",
    test: "packages/console/test/format.test.ts",
    title: "says how much more or less a figure is than before",
  },
  {
    fault: "a spreadsheet takes a cell of the differences for a formula",
    file: "packages/console/src/pages/settlement/differences-csv.ts",
    from: "const guarded = /^-?[0-9.]+$/.test(text) ? text :",
    to: "const guarded = /^[-=]?[0-9.+]+$/.test(text) ? text :",
    test: "packages/console/test/settlement.test.ts",
    title: "a spreadsheet takes no cell of the differences for a formula",
  },
  {
    fault: "the effect of an entry shows the balance after it as the one before",
    file: "packages/console/src/pages/partners/account.tsx",
    from: "<BeforeAfter before={shown(before)} after={shown(after)} />",
    to: "<BeforeAfter before={shown(after)} after={shown(before)} />",
    test: CONSOLE,
    title: "the account of a partner",
  },
  {
    fault: "a statement on paper names the debtor as the creditor",
    file: "packages/console/src/pages/partners/statement.tsx",
    from: "return t.owing[owing](legalName ?? partner, name ?? t.provider, formatMoney(owed, currency));",
    to: "return t.owing[owing](name ?? t.provider, legalName ?? partner, formatMoney(owed, currency));",
    test: CONSOLE,
    title: "the account of a partner",
  },
  {
    fault: "the result of a reconciliation shows the partner's sums as ours",
    file: "packages/console/src/pages/settlement/result.tsx",
    from: "{ header: t.ours, cell: ({ ours }) => <Amount of={ours} bare />, isAmount: true },",
    to: "{ header: t.ours, cell: ({ theirs }) => <Amount of={theirs} bare />, isAmount: true },",
    test: CONSOLE,
    title: "holds a partner's file against what is on record, and is told what to do",
  },
  {
    fault: "everybody is offered what only some roles may do",
    file: "packages/console/src/api/session.tsx",
    from: "return useMe().permissions.includes(permission);",
    to: 'return useMe().permissions.includes(permission) || permission !== "read";',
    test: CONSOLE,
    title: "offers nobody what their role does not allow, and says so of a page",
  },
  {
    fault: "the receipt of a reversed sale does not say so",
    file: "packages/console/src/counter/receipt.tsx",
    from: '{of.status === "reversed" && <p className="mark">{t.reversed}</p>}',
    to: "",
    test: "packages/server/test/console/counter.test.ts",
    title: "a seller opens a shift, asks for a reversal, returns the cash, and closes the shift",
  },
];
