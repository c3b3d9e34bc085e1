import { type Static, Type } from "typebox";
import { LIMIT_NAMES } from "../../domain/account.ts";
import { MAILED_PROBLEMS, SERVICE_PROBLEMS } from "../../domain/problem.ts";
import { isoTime, isoTimeOrNull } from "../../domain/wall-time.ts";
import type { ServiceState } from "../../system/service-state.ts";
import { AmountSchema, ENVIRONMENT, environmentOf, formatOrNull, oneOf, orNull } from "../common.ts";
import { type Operation, operation } from "../operation.ts";
import { readProblems } from "./problems.ts";

/** Seconds that 1 % of answers may take. Fewer answers than this number say nothing. */
const SLOW_SECONDS = 1;
const FEWEST_ANSWERS = 20;

const AttentionItemSchema = Type.Object(
  {
    kind: oneOf([...SERVICE_PROBLEMS, ...MAILED_PROBLEMS]),
    count: orNull(Type.Integer({ description: "MiB for `disk_low` and `log_large`, milliseconds for `slow`." })),
    subject: orNull(Type.String({ description: "The target, the partner, or the slow operation." })),
    limit: orNull(oneOf(LIMIT_NAMES, "The limit of `limit_reached`.")),
    amount: orNull(
      Type.String({ ...AmountSchema, description: "Amount of refused top-ups; the balance of `account_low`." }),
    ),
    at: orNull(
      Type.String({
        description: "Start of the problem, if it is known; the last backup or check; the end of a token.",
      }),
    ),
  },
  { title: "AttentionItem" },
);
type AttentionItem = Static<typeof AttentionItemSchema>;

const NOTHING = { count: null, subject: null, limit: null, amount: null, at: null } as const;

export const listAttention = operation({
  tag: "Overview",
  permission: "read",
  http: "GET /attention",
  summary: "List problems that need attention, most urgent first",
  input: Type.Object(ENVIRONMENT),
  answer: Type.Object({ items: Type.Array(AttentionItemSchema) }),
  async run(office, input) {
    const asked = await environmentOf(office, input);
    const { currencyExponent } = office.store.provider;
    const found = (await readProblems(office)).filter(({ environment = asked }) => environment === asked);
    const items = found.map(({ kind, count = null, subject = null, limit = null, amount, at }): AttentionItem => {
      return { kind, count, subject, limit, amount: formatOrNull(amount, currencyExponent), at: isoTimeOrNull(at) };
    });
    return { items: [...ofService(office.state), ...items] };
  },
});

function ofService({ recordingFailsSince, clockSetBackFrom, figures }: Readonly<ServiceState>): AttentionItem[] {
  const items: AttentionItem[] = [];
  const add = (kind: AttentionItem["kind"], item: Partial<AttentionItem>) => items.push({ ...NOTHING, kind, ...item });
  if (recordingFailsSince !== undefined) add("recording_fails", { at: isoTime(recordingFailsSince) });
  if (clockSetBackFrom !== undefined) add("clock_set_back", { at: isoTime(clockSetBackFrom) });
  if (figures !== undefined && figures.restarts > 0) add("restarts", { count: figures.restarts });
  for (const { operation: subject, count, p99 } of figures?.answers ?? [])
    if (count >= FEWEST_ANSWERS && p99 > SLOW_SECONDS) add("slow", { count: Math.round(p99 * 1_000), subject });
  return items;
}

export const operations: readonly Operation[] = [listAttention];
