import type { LimitName } from "./account.ts";
import { type AlertKind, NOT_ENDED } from "./alert.ts";
import type { Environment } from "./customer.ts";
import type { Mail } from "./mail.ts";
import { type CurrencyExponent, formatMoneyForPeople, type Money, type MoneyWords } from "./money.ts";
import { printable } from "./names.ts";
import type { Instant, Zone } from "./wall-time.ts";

/* Problems that need attention. Pages, mails, metrics and alert rules show one list: see office/alerts/problems.ts. */

/** Problems of the running service, which its log and metrics report; most urgent first. */
export const SERVICE_PROBLEMS = ["recording_fails", "clock_set_back", "restarts", "slow"] as const;
/** Problems that are mailed when they begin and when they end; most urgent first. */
export const MAILED_PROBLEMS = [
  ...(["disk_low", "log_large", "reports_behind", "service_late"] as const),
  ...(["target_behind", "feed_behind", "sessions_open", "target_paused", "failed_deliveries"] as const),
  ...(["balance_refused", "limit_reached", "look_ups_refused", "account_low", "held_back"] as const),
  ...(["second_person", "token_ending", "no_backup", "no_check"] as const),
] as const;

export interface Problem {
  readonly kind: (typeof MAILED_PROBLEMS)[number];
  /** Undefined: of the whole service. */
  readonly environment?: Environment;
  /** The partner or target, if it is about one. */
  readonly subject?: string;
  /** The limit of `limit_reached`. */
  readonly limit?: LimitName | undefined;
  /**
   * Number of events, users, late connections, refused top-ups, held-back subscriptions or requests; MiB of `disk_low` and
   * `log_large`.
   */
  readonly count?: number;
  /** Whether there may be more than `count`. */
  readonly isCut?: boolean;
  /** Amount of refused top-ups; the balance of `account_low`. */
  readonly amount?: Money;
  /** Its start, if that is known; the end of a token. */
  readonly at?: Instant | undefined;
  /** Why the last backup failed, or what the last check found. */
  readonly fault?: string | undefined;
  /** The end of the day that it is about; undefined if it has no fixed end. */
  readonly endsAt?: Instant;
  /** The credit limit of `account_low`; undefined if there is none. */
  readonly creditLimit?: Money | undefined;
  /** The partner of a problem that is an event too; with the bound of `account_low`. */
  readonly event?: { readonly kind: AlertKind; readonly partnerId: number; readonly below?: Money };
}

/** A problem of the running service, or another. `count`: processes of `restarts`, milliseconds of `slow`. */
export type AnyProblem = Omit<Problem, "kind"> & {
  readonly kind: Problem["kind"] | (typeof SERVICE_PROBLEMS)[number];
};

/** The key of a problem: a day's problem begins again on the next day. */
export interface ProblemKey {
  readonly kind: Problem["kind"];
  readonly environment: Environment | "";
  readonly subject: string;
  readonly limitName: LimitName | "";
  readonly endsAt: Instant;
}

export function keyOf({ kind, environment, subject = "", limit, endsAt = NOT_ENDED }: Problem): ProblemKey {
  return { kind, environment: environment ?? "", subject, limitName: limit ?? "", endsAt };
}

const LIMITS: Readonly<Record<LimitName, string>> = {
  top_up_amount: "Top-ups were above the limit of one top-up, and were refused.",
  day_amount: "The limit of the amount of a day is reached. Further top-ups are refused until midnight.",
  day_top_ups: "The limit of top-ups of a day is reached. Further top-ups are refused until midnight.",
  paid_ahead: "Top-ups would have paid a connection too far ahead, and were refused.",
};

const LOOK_UPS_REFUSED =
  "Too many strangers were looked up: customers whom the partner never topped up, and unknown or ambiguous codes. Such look-ups are refused for up to an hour. If the partner cannot explain them, its token may be stolen.";

interface Told {
  readonly count: number;
  readonly isCut: boolean;
  readonly amount: string;
  readonly below: string;
  readonly creditLimit: string;
  readonly at: string;
  readonly limit: LimitName | undefined;
  readonly fault: string | undefined;
}
type Words = readonly [title: string, text: (told: Told) => string];

const WORDS: Readonly<Record<AnyProblem["kind"], Words>> = {
  recording_fails: ["top-ups fail", ({ at }) => `They have failed since ${at}. Partners get an answer to try again.`],
  clock_set_back: [
    "the clock was set back",
    ({ at }) => `It has shown ${at}. Until then, new top-ups can have earlier times than older ones.`,
  ],
  restarts: ["processes ended or hung", ({ count }) => `Started again in the last five minutes: ${count}.`],
  slow: ["answers are slow", ({ count }) => `One answer of a hundred takes over ${count} milliseconds.`],
  disk_low: ["the disk is almost full", ({ count }) => `The disk of the database has only ${count} MiB left.`],
  log_large: ["the write-ahead log is large", ({ count }) => `The write-ahead log has grown to ${count} MiB.`],
  reports_behind: ["reports are behind", ({ at }) => `The standby that lists and reports read is that of ${at}.`],
  service_late: [
    "paid, but perhaps not on",
    ({ count, isCut }) =>
      `Paid connections with a step that failed or is late at a target: ${count}${isCut ? " or more" : ""}. See Health.`,
  ],
  target_behind: ["target is behind", ({ count, at }) => `Events that it lacks: ${count}, the oldest since ${at}.`],
  feed_behind: [
    "feed is not fetched",
    ({ count, at }) => `Events that its reader has not fetched: ${count}, the oldest since ${at}.`,
  ],
  sessions_open: [
    "sessions do not end",
    ({ count, at }) => `Users whose sessions go on after a change: ${count}, the first since ${at}.`,
  ],
  target_paused: ["target is paused", ({ count }) => `It gets no events until it is resumed. It lacks ${count}.`],
  failed_deliveries: ["events are set aside", ({ count }) => `Events that failed for three days: ${count}.`],
  balance_refused: [
    "balance too low for top-ups",
    ({ count, amount }) => `Top-ups that were refused on this day as the balance was too low: ${count}, of ${amount}.`,
  ],
  limit_reached: [
    "limit reached",
    ({ count, amount, limit }) => `${limit && LIMITS[limit]} Refused on this day: ${count}, of ${amount}.`,
  ],
  look_ups_refused: ["look-ups refused", ({ count }) => `${LOOK_UPS_REFUSED} Refused on this day: ${count}.`],
  account_low: [
    "balance is low",
    ({ amount, below, creditLimit }) => `The balance is ${amount}, below ${below}. The credit limit: ${creditLimit}.`,
  ],
  held_back: [
    "subscriptions are held back",
    ({ count }) => `Subscriptions that wait for a decision: ${count}. Decide on Imports.`,
  ],
  second_person: ["requests wait", ({ count }) => `Changes that wait for a second person: ${count}.`],
  token_ending: ["access token ends", ({ at }) => `An access token in use ends at ${at}.`],
  no_backup: ["no backup", ({ at, fault }) => `The last backup: ${at}.${fault ? ` A later one failed: ${fault}` : ""}`],
  no_check: [
    "no check of the database",
    ({ at, fault }) => `The last check without a finding: ${at}.${fault ? ` A later one: ${fault}.` : ""}`,
  ],
};

/** How mails write amounts, and where their links lead. */
export interface MailWords extends MoneyWords {
  /** Undefined: no link is written. */
  readonly consoleUrl: string | undefined;
}

/** How a problem is told to people. */
interface Telling {
  readonly zone: Zone;
  readonly exponent: CurrencyExponent;
  readonly words: MoneyWords;
}

/** Title, text and page of a problem, for pages and mails. The title has the subject, such as the partner. */
export function tellProblem(problem: AnyProblem, { zone, exponent, words }: Telling) {
  const {
    kind,
    environment,
    subject = "",
    count = 0,
    isCut = false,
    amount,
    event,
    at,
    limit,
    creditLimit,
    fault,
  } = problem;
  const [what, text] = WORDS[kind];
  const trial = environment === "trial" ? "trial" : undefined;
  const about = subject === "" ? trial : printable(trial === undefined ? subject : `${subject} (trial)`);
  const money = (of: Money | undefined) => (of === undefined ? "none" : formatMoneyForPeople(of, exponent, words));
  const amounts = { amount: money(amount), below: money(event?.below), creditLimit: money(creditLimit) };
  const time = at === undefined ? "none" : `${zone.wallTime(at)} (${zone.name})`;
  return {
    about,
    title: about === undefined ? what : `${about}: ${what}`,
    text: text({ count, isCut, ...amounts, at: time, limit, fault }),
    page: pageOf(problem),
  };
}

interface MailedTimes extends Telling {
  readonly beganAt: Instant;
  /** Undefined while the problem lasts. */
  readonly endedAt: Instant | undefined;
  readonly words: MailWords;
}

/** The mail about the start or the end of a problem. Its figures are left out if they are over, and not of a day. */
export function problemMail(problem: Problem, telling: MailedTimes): Mail {
  const { beganAt, endedAt, zone, words } = telling;
  const { about, title, text, page } = tellProblem(problem, telling);
  const { kind, subject, endsAt } = problem;
  const label = subject === undefined ? "Environment" : TARGET_PROBLEMS.includes(kind) ? "Target" : "Partner";
  const time = (instant: Instant) => `${zone.wallTime(instant)} (${zone.name})`;
  const lines = [
    ...(about === undefined ? [] : [`${label}: ${about}`]),
    `Time: ${time(beganAt)}`,
    ...(endedAt === undefined ? [] : [`Ended: ${time(endedAt)}`]),
    ...(endedAt === undefined || endsAt !== undefined ? ["", text] : []),
    ...(words.consoleUrl === undefined ? [] : ["", words.consoleUrl + page]),
  ];
  return {
    subject: ["topupd", ...(endedAt === undefined ? [] : ["ended"]), title].join(": "),
    text: `${lines.join("\n")}\n`,
  };
}

/** The console's page about a problem. */
function pageOf({ kind, subject }: AnyProblem): string {
  if (kind === "held_back") return "/imports?tab=held-back";
  if (kind === "second_person") return "/";
  if (subject === undefined || kind === "slow") return "/health";
  return `/${TARGET_PROBLEMS.includes(kind) ? "targets" : "partners"}/${encodeURIComponent(subject)}`;
}

const TARGET_PROBLEMS: readonly AnyProblem["kind"][] = [
  ...(["target_behind", "feed_behind", "sessions_open", "target_paused", "failed_deliveries"] as const),
];
