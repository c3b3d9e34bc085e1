import { useState } from "react";
import { Link } from "wouter";
import { useMay, useMe } from "../../api/session.tsx";
import type { PlanLedger } from "../../api/staff-api.d.ts";
import { Button } from "../../components/button.tsx";
import { History, type HistoryItem } from "../../components/display.tsx";
import { formatCount, minuteOf } from "../../format.ts";
import { transactionHref } from "../../links.ts";
import { texts } from "../../texts/index.ts";
import { ReversalDialog, type ReversibleTopUp } from "../transactions/top-up.tsx";
import { entryWords } from "./ledger-words.ts";

const t = texts.customers;

/** Number of entries shown at first. */
const FEW = 6;
/** Number of entries that are all shown at once. */
const NOT_MANY = 9;

/** The entries of a ledger in words, newest first. */
export function LedgerHistory({ ledger, title }: { ledger: PlanLedger; title: string }) {
  const { service, reqId, entries } = ledger;
  const mayCorrect = useMay("correct");
  const { currency } = useMe().provider;
  const [areAllShown, setAllShown] = useState(false);
  const [reversing, setReversing] = useState<ReversibleTopUp>();
  const newest = entries.toReversed();
  const hasMore = !areAllShown && newest.length > NOT_MANY;
  const items = (hasMore ? newest.slice(0, FEW) : newest).map((entry): HistoryItem => {
    const { seq, wall, txnId, reversedBy } = entry;
    const reversal = reversedBy === null ? undefined : entries.find((each) => each.seq === reversedBy);
    const at = minuteOf(wall);
    return {
      ...{ id: String(seq), at: wall, text: entryWords(entry, entries, currency), struck: reversal !== undefined },
      ...(reversal !== undefined && { note: t.wasReversed(minuteOf(reversal.wall)) }),
      ...(txnId !== null && {
        actions: (
          <>
            <Link href={transactionHref({ txnId })} aria-label={t.transactionOf(at)}>
              {t.transaction}
            </Link>
            {mayCorrect && reversal === undefined && (
              <button
                type="button"
                className="link-button"
                aria-label={t.reverseOf(at)}
                onClick={() => setReversing({ ...entry, service, reqId, txnId })}
              >
                {t.reverse}
              </button>
            )}
          </>
        ),
      }),
    };
  });
  return (
    <div className="stack">
      <h3>{title}</h3>
      <History label={t.ledger(title)} items={items} />
      {hasMore && (
        <div>
          <Button kind="quiet" onClick={() => setAllShown(true)}>
            {t.showAll(formatCount(newest.length))}
          </Button>
        </div>
      )}
      {reversing !== undefined && <ReversalDialog topUp={reversing} onClose={() => setReversing(undefined)} />}
    </div>
  );
}
