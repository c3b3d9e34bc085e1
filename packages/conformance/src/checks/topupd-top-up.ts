import { isDeepStrictEqual } from "node:util";
import { describeAnswer, type Exchange, isSuccess, unjudgeable } from "../exchange.ts";
import type { Spending, VersionFacts } from "../facts.ts";
import { hasGrown } from "../reach.ts";
import { readResult, txnIdOf } from "../read.ts";
import { describe, member } from "../shape.ts";
import { both, decided, every, fails, HOLDS, skipped, type Verdict, type VersionCheck } from "./check.ts";
import { judgeExtent } from "./extent.ts";
import { judgeFailure } from "./failure.ts";
import { entriesOf } from "./listing.ts";

const TOP_UPS = "Top-ups";
const TRAITS = { needsTopUp: true };
const NONE = "no top-up has succeeded";
/** Digits and capitals without I, L, O and U. */
const TXN_ID = /^[0-9A-HJKMNP-TV-Z]{26}$/;

/** topupd's decisions on a top-up: before it, after it, and on its repeats. */
export const TOPUPD_TOP_UP_CHECKS: readonly VersionCheck[] = [
  decided(
    "amount-mismatch",
    "Failures and requests",
    "Another amount than the price is refused.",
    ({ spending }) => judgeFailure(spending?.wrongAmount, "amount_mismatch"),
    TRAITS,
  ),
  decided(
    "bouquet-unavailable",
    "Failures and requests",
    "A bouquet that is not listed is refused.",
    ({ spending }) => judgeFailure(spending?.wrongBouquet, "bouquet_unavailable"),
    TRAITS,
  ),
  decided(
    "checkout-mismatch",
    TOP_UPS,
    "A top-up for another reqId or cuid than the listing's is refused.",
    ({ spending }) =>
      both(
        () => judgeFailure(spending?.wrongReqId, "checkout_mismatch"),
        () => judgeFailure(spending?.wrongCuid, "checkout_mismatch"),
      ),
    TRAITS,
  ),
  decided(
    "refusals-use-nothing",
    TOP_UPS,
    "After refusals, the checkoutId is not topped up.",
    ({ spending }) => judgeFailure(spending?.statusAfterRefusals, "not_topped_up"),
    TRAITS,
  ),
  decided("topup-http-200", TOP_UPS, "A top-up is answered with HTTP 200.", judgeHttpStatus, TRAITS),
  decided("txn-id-form", "Identifiers and text", "A txnId has 26 digits and capitals.", judgeTxnId, TRAITS),
  decided(
    "topup-listed",
    "Subscriptions and renewal",
    "The listing then shows the bouquet, in a subscription that has grown.",
    judgeListed,
    TRAITS,
  ),
  decided(
    "topup-extends-by-period",
    "Subscriptions and renewal",
    "It has grown by the period in the bouquet's name.",
    judgeExtent,
    TRAITS,
  ),
  decided(
    "replay",
    TOP_UPS,
    "The same request again gets the same result, marked Idempotent-Replayed.",
    ofReplay("repeat"),
    TRAITS,
  ),
  decided(
    "replay-amt-number",
    "Money",
    "amt as a JSON number is the same amt as a string.",
    ofReplay("otherForm"),
    TRAITS,
  ),
  decided(
    "checkout-used",
    TOP_UPS,
    "A used checkoutId with other values is refused.",
    ({ spending }) => judgeFailure(spending?.otherValues, "checkout_used"),
    TRAITS,
  ),
  decided(
    "udf-length",
    "Versions",
    "udf1 of 31 characters is refused; in v1.0.0, it is ignored.",
    judgeReference,
    TRAITS,
  ),
  decided(
    "replay-elsewhere",
    TOP_UPS,
    "On the other version, it is a replay too.",
    ofReplay("repeatElsewhere"),
    TRAITS,
  ),
  decided(
    "txn-status-elsewhere",
    "Versions",
    "The other version's txn-status tells of it too.",
    judgeElsewhere,
    TRAITS,
  ),
  decided("repeats-record-nothing", TOP_UPS, "After all repeats, nothing more is on record.", judgeEnd, TRAITS),
];

function judgeHttpStatus({ spending }: VersionFacts): Verdict {
  const answers = [spending?.topUp, spending?.status].filter((exchange) => isSuccess(exchange)) as Exchange[];
  return every(answers, NONE, (exchange) =>
    exchange.answered && exchange.status === 200 ? HOLDS : fails("HTTP 200", describeAnswer(exchange)),
  );
}

function judgeTxnId({ spending }: VersionFacts): Verdict {
  const txnId = txnIdOf(spending?.topUp);
  if (txnId === undefined) return skipped(NONE);
  return TXN_ID.test(txnId) ? HOLDS : fails("26 digits and capitals", describe(txnId));
}

function judgeListed({ spending }: VersionFacts): Verdict {
  if (spending?.plan === undefined || spending.after === undefined) return skipped(NONE);
  const { connection, bouquetId, bouquetName } = spending.plan;
  const isGrown = hasGrown(spending.before, spending.after, connection.service, bouquetId);
  if (isGrown === undefined) return skipped("a listing cannot be read");
  const shown = entriesOf(spending.after, connection.service, "subscriptions").some(
    (entry) => member(entry, "code") === bouquetId && member(entry, "name") === bouquetName,
  );
  return both(
    () => (shown ? HOLDS : fails("a subscription with the bouquet's code and name", "none")),
    () => (isGrown ? HOLDS : fails("a later enddate", "the same as before the top-up")),
  );
}

function ofReplay(name: "repeat" | "otherForm" | "repeatElsewhere"): VersionCheck["judge"] {
  return ({ spending }) => judgeReplay(spending, spending?.[name]);
}

function judgeReplay(spending: Spending | undefined, exchange: Exchange | undefined): Verdict {
  if (exchange === undefined)
    return skipped(spending?.repeat === undefined ? NONE : "the other version is not checked");
  const open = unjudgeable(exchange);
  if (open !== undefined) return skipped(open);
  if (!exchange.answered || !isSuccess(exchange)) return fails("the recorded result", describeAnswer(exchange));
  const mark = exchange.headers["idempotent-replayed"];
  return both(
    () => (exchange.status === 200 ? HOLDS : fails("HTTP 200", describeAnswer(exchange))),
    () =>
      isDeepStrictEqual(readResult(exchange), readResult(spending?.topUp))
        ? HOLDS
        : fails("the very same result", "another one"),
    () =>
      mark === "true"
        ? HOLDS
        : fails("Idempotent-Replayed: true", mark === undefined ? "no such header" : "another value"),
  );
}

function judgeReference({ version, spending }: VersionFacts): Verdict {
  if (version === "v1.0.0") return judgeReplay(spending, spending?.longReference);
  return spending?.longReference === undefined ? skipped(NONE) : judgeFailure(spending.longReference, "invalid_field");
}

function judgeElsewhere({ spending }: VersionFacts): Verdict {
  if (spending?.statusElsewhere === undefined)
    return skipped(spending?.repeat === undefined ? NONE : "the other version is not checked");
  if (!isSuccess(spending.statusElsewhere))
    return fails("the recorded result", describeAnswer(spending.statusElsewhere));
  const isSame = isDeepStrictEqual(readResult(spending.statusElsewhere), readResult(spending.topUp));
  return isSame ? HOLDS : fails("the same result", "another one");
}

function judgeEnd({ spending }: VersionFacts): Verdict {
  if (spending?.plan === undefined || spending.atEnd === undefined) return skipped(NONE);
  const isGrown = hasGrown(spending.after, spending.atEnd, spending.plan.connection.service);
  if (isGrown === undefined) return skipped("a listing cannot be read");
  return both(
    () =>
      txnIdOf(spending.statusAtEnd) === txnIdOf(spending.topUp)
        ? HOLDS
        : fails("the first txnId", "another one, or none"),
    () => (isGrown ? fails("an unchanged subscription", "one that has grown") : HOLDS),
  );
}
