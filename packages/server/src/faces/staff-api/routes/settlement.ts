import { type Static, Type } from "typebox";
import { readPartnerFile } from "../../../csv/partner-file.ts";
import { SETTLEMENT_HEADER, settlementCsv } from "../../../csv/settlement.ts";
import { RECONCILIATION_KEYS } from "../../../domain/reconciliation.ts";
import {
  addTotals,
  NOTHING_SETTLED,
  SETTLEMENT_DETAILS,
  type SettlementDetail,
  type SettlementLine,
} from "../../../domain/settlement.ts";
import {
  AmountSchema,
  daysOf,
  ENVIRONMENT,
  environmentOf,
  oneOf,
  orNull,
  PARTNER,
  PERIOD,
  partnerIdOf,
  ServiceSchema,
} from "../../../office/common.ts";
import { Refused } from "../../../office/refused.ts";
import { partnerNamesOf } from "../../../office/transactions/presenter.ts";
import { FileRefused } from "../../../services/staff/import-file.ts";
import {
  readDelimiter,
  readStatuses,
  readWords,
  reconcile,
  showDifference,
  showTotals,
  USUAL_WORDS,
} from "../../../services/staff/reconciliation.ts";
import {
  countDays,
  isDayOpen,
  MAX_SETTLED_DAYS,
  reportSettlement,
  settlementAmounts,
  settlementRows,
} from "../../../services/staff/settlement.ts";
import type { AdminPorts } from "../ports.ts";
import { Problem } from "../problems.ts";
import { route } from "../route.ts";

/* What partners owe, and their books against what is on record. */

const TAG = "Settlement";
/** More lines are of no use on a page: CSV has them all. */
const MOST_LINES = 20_000;
const MOST_DIFFERENCES = 10_000;

const AMOUNTS = {
  ...{ topUps: Type.Integer(), gross: AmountSchema, reversals: Type.Integer(), reversed: AmountSchema },
  net: AmountSchema,
};

export const SettlementSchema = Type.Object(
  {
    from: Type.String(),
    to: Type.String(),
    open: Type.Boolean({ description: "Whether the last day may still grow." }),
    lines: Type.Array(
      Type.Object({
        ...{ day: Type.String(), partner: Type.String() },
        service: orNull(ServiceSchema),
        bouquetId: orNull(Type.String({ description: "Null where the lines are coarser." })),
        ...AMOUNTS,
      }),
    ),
    total: Type.Object(AMOUNTS),
  },
  { title: "Settlement" },
);

const TOTAL = {
  rows: Type.Integer(),
  ...{ theirs: AmountSchema, ours: AmountSchema, difference: AmountSchema },
};

export const ReconciliationSchema = Type.Object(
  {
    total: Type.Object(TOTAL),
    verdicts: Type.Array(
      Type.Object({
        verdict: Type.String(),
        ...TOTAL,
        advice: orNull(Type.String({ description: "What is to be done; null where nothing is." })),
      }),
    ),
    differences: Type.Array(
      Type.Object({
        verdict: Type.String(),
        line: orNull(Type.Integer()),
        key: orNull(Type.String()),
        ...{ theirAmount: orNull(AmountSchema), theirStatus: orNull(Type.String()) },
        ...{ ourAmount: orNull(AmountSchema), ourStatus: orNull(Type.String()) },
        ...{ txnId: orNull(Type.String()), checkoutId: orNull(Type.String()), txnDate: orNull(Type.String()) },
        problem: orNull(Type.String({ description: "Why the line cannot be read." })),
      }),
      { description: "All but what matches, the first ten thousand." },
    ),
  },
  { title: "Reconciliation" },
);

const SETTLEMENT_QUERY = Type.Object({
  ...{ ...ENVIRONMENT, ...PARTNER, ...PERIOD },
  detail: Type.Optional(oneOf(SETTLEMENT_DETAILS, "How fine the lines are: of each bouquet unless given.")),
});

const column = (usual: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: `${usual} unless given.` }));
const words = (status: keyof typeof USUAL_WORDS) =>
  Type.Optional(Type.String({ maxLength: 500, description: `With commas; ${USUAL_WORDS[status]} unless given.` }));

export const settlementRoutes = [
  route({
    ...{ method: "GET", path: "/settlement", tag: TAG, permission: "settle" },
    summary: "Report top-ups and reversals by day, partner, service and bouquet",
    query: SETTLEMENT_QUERY,
    answer: SettlementSchema,
    async handle(ports, { query }) {
      const { currencyExponent } = ports.store.provider;
      const { from, to } = query;
      const lines: SettlementLine[] = [];
      for await (const day of await readSettlement(ports, query)) {
        lines.push(...day);
        if (lines.length > MOST_LINES)
          throw new Problem(
            "invalid",
            `There are more than ${MOST_LINES} lines: ask for fewer days, or by service or day.`,
          );
      }
      return {
        ...{ from, to, open: isDayOpen(ports, { day: to }) },
        lines: settlementRows(lines, await partnerNamesOf(ports.store), currencyExponent),
        total: settlementAmounts(lines.reduce(addTotals, NOTHING_SETTLED), currencyExponent),
      };
    },
  }),
  route({
    ...{ method: "GET", path: "/settlement.csv", tag: TAG, permission: "settle" },
    summary: "The same, in CSV",
    query: SETTLEMENT_QUERY,
    answer: "csv",
    async handle(ports, { query }) {
      const days = await readSettlement(ports, query);
      const names = await partnerNamesOf(ports.store);
      const pieces = async function* (): AsyncGenerator<string> {
        yield SETTLEMENT_HEADER;
        for await (const day of days)
          yield settlementCsv(settlementRows(day, names, ports.store.provider.currencyExponent));
      };
      return { fileName: `settlement-${query.from}-${query.to}.csv`, pieces: pieces() };
    },
  }),
  route({
    ...{ method: "POST", path: "/reconciliations", tag: TAG, permission: "settle", changesNothing: true },
    summary: "Compare a partner's own list of top-ups, in CSV, with what is on record",
    query: Type.Object({
      ...{ ...ENVIRONMENT, ...PERIOD },
      partner: Type.String({ maxLength: 64, description: "Whose file it is." }),
      name: Type.Optional(Type.String({ maxLength: 200, description: "Of the file." })),
      key: Type.Optional(oneOf(RECONCILIATION_KEYS, "What tells top-ups apart in the file: checkoutId unless given.")),
      keyColumn: column("As the key"),
      amountColumn: column("amount"),
      statusColumn: column("None"),
      delimiter: Type.Optional(
        Type.String({ maxLength: 3, description: "Between two cells, or tab; a comma unless given." }),
      ),
      successValues: words("success"),
      reversedValues: words("reversed"),
      failedValues: words("failed"),
    }),
    body: "file",
    answer: ReconciliationSchema,
    problems: ["conflict"],
    async handle(ports, { query, body: file }) {
      const { store } = ports;
      const { provider } = store;
      const { key = "checkoutId", keyColumn = key, amountColumn = "amount", statusColumn } = query;
      const delimiter = readDelimiter(query.delimiter ?? ",");
      if (delimiter === undefined) throw Refused.field("delimiter", "must be one character such as ; or the word tab");
      const statuses = readStatuses({
        success: readWords(query.successValues ?? USUAL_WORDS.success),
        reversed: readWords(query.reversedValues ?? USUAL_WORDS.reversed),
        failed: readWords(query.failedValues ?? USUAL_WORDS.failed),
      });
      if (typeof statuses === "string") throw Refused.field("statusColumn", statuses);
      const { currencyExponent } = provider;
      const format = { delimiter, keyColumn, amountColumn, statusColumn, statuses, currencyExponent };
      const period = daysOf(ports, query) as { readonly from: number; readonly until: number };
      const partnerId = (await partnerIdOf(ports, query)) as number;
      const request = { environment: await environmentOf(ports, query), partnerId, ...period, key };
      const reconciled = await reconcile(ports, request, readPartnerFile(file.open(), format)).catch(
        (error: unknown) => {
          if (!(error instanceof FileRefused)) throw error;
          throw Refused.field(error.column === undefined ? "file" : `${error.column}Column`, error.message);
        },
      );
      return {
        ...showTotals(reconciled, provider),
        differences: reconciled.differences
          .slice(0, MOST_DIFFERENCES)
          .map((answer) => showDifference(answer, provider)),
      };
    },
  }),
];

/** @throws Problem where the days are none, or too many. */
async function readSettlement(ports: AdminPorts, query: Static<typeof SETTLEMENT_QUERY>) {
  const { from, to, detail = "bouquet" as SettlementDetail } = query;
  daysOf(ports, query);
  if (countDays(from, to) > MAX_SETTLED_DAYS)
    throw Refused.field("to", `may be ${MAX_SETTLED_DAYS} days after from at most: ask for each year by itself`);
  const environment = await environmentOf(ports, query);
  return reportSettlement(ports, { environment, partnerId: await partnerIdOf(ports, query), from, to, detail });
}
