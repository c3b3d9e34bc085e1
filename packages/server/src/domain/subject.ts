import { type AccountKey, LIMIT_NAMES, type LimitName } from "./account.ts";
import { SERVICES } from "./bouquet.ts";
import { type ConnectionKey, ENVIRONMENTS } from "./customer.ts";
import type { Instant, WallTime } from "./wall-time.ts";

/*
 * What targets are told of. The subject decides how news add up: of a connection only the newest state counts, and a fact is a
 * subject of its own. The text of a subject is its key in the tables `due` and `told`.
 */

/** A connection, whose name omits the customer to whom it may move. */
export type NamedConnection = Omit<ConnectionKey, "cuid">;

/** `low`: a balance below its bound. `lookups`: refused look-ups of strangers. A day is `YYYY-MM-DD`. */
export type PartnersFact = AccountKey &
  (
    | { readonly kind: "topup" | "reversal"; readonly txnId: string }
    | { readonly kind: "entry"; readonly reference: string }
    | { readonly kind: "low"; readonly at: Instant }
  );
type LimitFact = AccountKey & { readonly kind: "limit"; readonly limit: LimitName; readonly day: string };
type LookUpsFact = AccountKey & { readonly kind: "lookups"; readonly day: string };
/** A plan ends some days ahead. */
type EndingFact = NamedConnection & {
  readonly kind: "ending";
  readonly plan: string;
  readonly end: WallTime;
  readonly days: number;
};
export type Fact = PartnersFact | LimitFact | LookUpsFact | EndingFact;
export type Subject = ({ readonly kind: "connection" } & NamedConnection) | Fact;

export function isFact(subject: string): boolean {
  return subject.startsWith("fact ");
}

/** The text of a connection: `connection production internet sita`. Its last field may contain anything. */
export function connectionSubject({ environment, service, reqId }: NamedConnection): string {
  return `connection ${environment} ${service} ${reqId}`;
}

/** The text of a fact: `fact entry 7 production 4711`. Its last field may contain anything. */
export function factSubject(fact: Fact): string {
  if (fact.kind === "ending") {
    const { kind, plan, end, days, environment, service, reqId } = fact;
    const runs = `${days} ${end.replace(" ", "T")} ${encodeURIComponent(plan)}`;
    return `fact ${kind} ${runs} ${environment} ${service} ${reqId}`;
  }
  return `fact ${fact.kind} ${fact.partnerId} ${fact.environment} ${nameOf(fact)}`;
}

function nameOf(fact: Exclude<Fact, EndingFact>): string {
  switch (fact.kind) {
    case "topup":
    case "reversal":
      return fact.txnId;
    case "entry":
      return fact.reference;
    case "low":
      return String(fact.at);
    case "limit":
      return `${fact.day} ${fact.limit}`;
    case "lookups":
      return fact.day;
  }
}

const [ENVIRONMENT, SERVICE, LIMIT] = [ENVIRONMENTS, SERVICES, LIMIT_NAMES].map((names) => `(${names.join("|")})`);
const CONNECTION = new RegExp(`^connection ${ENVIRONMENT} ${SERVICE} (.*)$`, "s");
const ENDING = new RegExp(`^fact ending (\\d+) (\\S+) (\\S*) ${ENVIRONMENT} ${SERVICE} (.*)$`, "s");
const OF_PARTNER = new RegExp(`^fact (topup|reversal|entry|low|limit|lookups) (\\d+) ${ENVIRONMENT} (.*)$`, "s");
const LIMIT_OF_DAY = new RegExp(`^(\\S+) ${LIMIT}$`);

/** Reads the text of a subject; undefined if it is none. */
export function readSubject(text: string): Subject | undefined {
  const connection = readConnection(CONNECTION.exec(text)?.slice(1));
  if (connection !== undefined) return { kind: "connection", ...connection };
  const [, days, end = "", plan = "", ...name] = ENDING.exec(text) ?? [];
  const ending = readConnection(name);
  if (ending !== undefined)
    return {
      kind: "ending",
      plan: decodeURIComponent(plan),
      end: end.replace("T", " "),
      days: Number(days),
      ...ending,
    };
  const [, kind, partnerId, environment, named = ""] = OF_PARTNER.exec(text) ?? [];
  if (kind === undefined) return undefined;
  const account = { partnerId: Number(partnerId), environment: environment as AccountKey["environment"] };
  return readNamed(kind as Exclude<Fact, EndingFact>["kind"], account, named);
}

function readConnection([environment, service, reqId]: readonly string[] = []): NamedConnection | undefined {
  return reqId === undefined ? undefined : ({ environment, service, reqId } as NamedConnection);
}

function readNamed(kind: Exclude<Fact, EndingFact>["kind"], account: AccountKey, name: string): Fact | undefined {
  switch (kind) {
    case "topup":
    case "reversal":
      return { kind, ...account, txnId: name };
    case "entry":
      return { kind, ...account, reference: name };
    case "low":
      return { kind, ...account, at: Number(name) };
    case "limit": {
      const [, day, limit] = LIMIT_OF_DAY.exec(name) ?? [];
      return day === undefined ? undefined : { kind, ...account, day, limit: limit as LimitName };
    }
    case "lookups":
      return { kind, ...account, day: name };
  }
}

/**
 * The `webhook-id` of a message. That of a connection differs in each attempt; that of a fact never changes, whatever is
 * repeated, sent again or restored. It has no full stop, which separates the parts of the signed text.
 */
export function webhookIdOf(subject: string, version: number): string {
  const name = Buffer.from(subject).toString("base64url");
  return isFact(subject) ? `fact_${name}` : `con_${name}_${version}`;
}

/** Reads the id that a confirmation names. @returns no version for a fact; undefined if the text is no such id. */
export function readWebhookId(
  id: string,
): { readonly subject: string; readonly version: number | undefined } | undefined {
  const [, fact, connection, version] = /^(?:fact_([\w-]+)|con_([\w-]+)_(\d{1,16}))$/.exec(id) ?? [];
  const name = fact ?? connection;
  if (name === undefined) return undefined;
  const subject = Buffer.from(name, "base64url").toString();
  const read = { subject, version: version === undefined ? undefined : Number(version) };
  return webhookIdOf(subject, read.version ?? 0) === id ? read : undefined;
}

/** The same for a fact at its partner's webhook, which other partners' facts never reach. It has no full stop either. */
export function partnersIdOf(fact: PartnersFact): string {
  switch (fact.kind) {
    case "topup":
      return `recorded_${fact.txnId}`;
    case "reversal":
      return `reversed_${fact.txnId}`;
    case "entry":
      return `${ofTrial(fact)}entry_${encodeURIComponent(fact.reference).replaceAll(".", "%2E")}`;
    case "low":
      return `${ofTrial(fact)}low_${fact.at}`;
  }
}

/** Reads an id of {@link partnersIdOf}; undefined if the account cannot have such a fact. */
export function readPartnersId(id: string, account: AccountKey): PartnersFact | undefined {
  const [, kind, name = ""] = PARTNERS_ID.exec(id) ?? [];
  const fact = kind === undefined ? undefined : factOfId(kind, name, account);
  return fact !== undefined && partnersIdOf(fact) === id ? fact : undefined;
}

const PARTNERS_ID = /^(?:trial_)?(recorded|reversed|entry|low)_(.*)$/s;

function factOfId(kind: string, name: string, account: AccountKey): PartnersFact | undefined {
  switch (kind) {
    case "recorded":
      return { kind: "topup", ...account, txnId: name };
    case "reversed":
      return { kind: "reversal", ...account, txnId: name };
    case "low":
      return { kind, ...account, at: Number(name) };
    default:
      return isEncoded(name) ? { kind: "entry", ...account, reference: decodeURIComponent(name) } : undefined;
  }
}

/** `decodeURIComponent` throws for other texts. */
function isEncoded(text: string): boolean {
  try {
    return decodeURIComponent(text) !== "";
  } catch {
    return false;
  }
}

/** References are unique in an account only, and one receiver may serve both environments. */
function ofTrial({ environment }: AccountKey): string {
  return environment === "trial" ? "trial_" : "";
}
