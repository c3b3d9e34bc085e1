import { Type } from "typebox";
import { type AnyProblem, MAILED_PROBLEMS, SERVICE_PROBLEMS, tellProblem } from "../../domain/problem.ts";
import type { ServiceState } from "../../system/service-state.ts";
import { ENVIRONMENT, environmentOf, oneOf, orNull } from "../common.ts";
import { type Operation, operation } from "../operation.ts";
import { readProblems } from "./problems.ts";

/** Seconds that 1 % of answers may take. Fewer answers than this number say nothing. */
const SLOW_SECONDS = 1;
const FEWEST_ANSWERS = 20;

const AttentionItemSchema = Type.Object(
  {
    kind: oneOf([...SERVICE_PROBLEMS, ...MAILED_PROBLEMS]),
    title: Type.String(),
    text: Type.String(),
    page: Type.String({ description: "The console's page about it." }),
    subject: orNull(Type.String({ description: "The target, the partner, or the slow operation." })),
  },
  { title: "AttentionItem" },
);

export const listAttention = operation({
  tag: "Overview",
  permission: "read",
  http: "GET /attention",
  summary: "List problems that need attention, most urgent first",
  input: Type.Object(ENVIRONMENT),
  answer: Type.Object({ items: Type.Array(AttentionItemSchema) }),
  async run(office, input) {
    const asked = await environmentOf(office, input);
    const { zone, currencyExponent: exponent } = office.store.provider;
    const found = (await readProblems(office)).filter(({ environment = asked }) => environment === asked);
    return {
      items: [...ofService(office.state), ...found].map(({ environment: _, ...problem }) => {
        const { about, title, text, page } = tellProblem(problem, { zone, exponent, words: office });
        const heading = about === undefined ? title.charAt(0).toUpperCase() + title.slice(1) : title;
        return { kind: problem.kind, title: heading, text, page, subject: problem.subject ?? null };
      }),
    };
  },
});

function ofService({ recordingFailsSince, clockSetBackFrom, figures }: Readonly<ServiceState>): AnyProblem[] {
  const slow = (figures?.answers ?? []).filter(({ count, p99 }) => count >= FEWEST_ANSWERS && p99 > SLOW_SECONDS);
  return [
    ...(recordingFailsSince === undefined ? [] : [{ kind: "recording_fails", at: recordingFailsSince } as const]),
    ...(clockSetBackFrom === undefined ? [] : [{ kind: "clock_set_back", at: clockSetBackFrom } as const]),
    ...(figures === undefined || figures.restarts === 0
      ? []
      : [{ kind: "restarts", count: figures.restarts } as const]),
    ...slow.map(({ operation: subject, p99 }) => ({ kind: "slow", count: Math.round(p99 * 1_000), subject }) as const),
  ];
}

export const operations: readonly Operation[] = [listAttention];
