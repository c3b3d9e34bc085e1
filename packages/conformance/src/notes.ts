import { bodyOf, envelopeOf, isSuccess, saysJson } from "./exchange.ts";
import type { RunFacts, VersionFacts } from "./facts.ts";
import { findConnections, readCheckoutId, readResult } from "./read.ts";
import type { Note } from "./report.ts";
import { asArray, member } from "./shape.ts";

const SERVICE_KEYS = ["tv", "internet", "iptv"];

/** What the interface does not forbid, and somebody should look at all the same. */
export function takeNotes({ versions }: RunFacts): Note[] {
  return versions.flatMap((facts) => notesOn(facts).map((text) => ({ group: facts.version, text })));
}

function notesOn({
  version,
  lookUp,
  customer,
  withoutToken,
  listingWithoutToken,
  listings,
  exchanges,
  spending,
}: VersionFacts): string[] {
  const connections = findConnections(bodyOf(lookUp), version);
  const items = SERVICE_KEYS.flatMap((key) => asArray(member(connections, key)) ?? []);
  const isOther = (item: unknown) => !["active", "inactive"].includes(member(item, "status") as string);
  const answers = [lookUp, ...listings.map(({ exchange }) => exchange), ...[spending?.topUp, spending?.status]];
  const isOddStatus = answers.some((answer) => answer?.answered === true && isSuccess(answer) && answer.status !== 200);
  const toppedUp = readResult(spending?.topUp);
  const notes: readonly (readonly [boolean, string])[] = [
    [
      bodyOf(withoutToken) !== undefined && member(bodyOf(withoutToken), "customer") !== undefined,
      "A request without an access token was answered with a customer (§5 Authentication).",
    ],
    [
      bodyOf(listingWithoutToken) !== undefined && readCheckoutId(listingWithoutToken) !== undefined,
      "A request without an access token was answered with a checkoutId (§5 Authentication).",
    ],
    [
      exchanges.some((exchange) => envelopeOf(exchange) !== undefined && !saysJson(exchange)),
      "JSON came with another Content-Type than application/json, which may keep programs from reading it (§2).",
    ],
    [
      [customer, ...items].some((item) => item !== undefined && isOther(item)),
      "A status other than active and inactive came, which are those observed (§3).",
    ],
    [
      toppedUp !== undefined && member(toppedUp, "status") !== "success",
      "The top-up's status is not success, which is the one observed (§2 Transaction result).",
    ],
    [
      spending?.topUp !== undefined && !isSuccess(spending.topUp) && readResult(spending.status) !== undefined,
      "The top-up did not succeed, yet txn-status tells of one: it was made, and paid for.",
    ],
    [
      spending?.isLate === true,
      "txn-status told of the top-up only when it was asked again (§1): partners may take it for lost.",
    ],
    [spending?.isInDoubt === true, `Look at what was paid, for it may be more than was said: ${spending?.stopped}.`],
    [isOddStatus, "A success came with another HTTP status than 200, which the interface does not forbid (§7)."],
  ];
  return notes.flatMap(([isTrue, text]) => (isTrue ? [text] : []));
}
