import type { Mutant } from "./mutant.ts";

/* Faults of what is due at targets, and of what they were told. */

const STORE = "packages/server/src/store/due.ts";
const TESTS = "packages/server/test/store/due.test.ts";

export const IN_DUE: readonly Mutant[] = [
  {
    fault: "a row is deleted although it changed while it was sent",
    file: STORE,
    from: "row.changes === due.changes && row.sent === due.sent",
    to: "row.sent === due.sent",
    test: TESTS,
  },
  {
    fault: "a version is not greater than the one that was sent",
    file: STORE,
    from: "Math.max(now, row.sent + 1, (version ?? 0) + 1)",
    to: "Math.max(now, (version ?? 0) + 1)",
    test: TESTS,
  },
  {
    fault: "a version is not greater than the one on record",
    file: STORE,
    from: "Math.max(now, row.sent + 1, (version ?? 0) + 1)",
    to: "Math.max(now, row.sent + 1)",
    test: TESTS,
  },
  {
    fault: "a subject is late since its last change, not since the oldest that is not done",
    file: STORE,
    from: "CASE WHEN due.since < excluded.since THEN due.since ELSE excluded.since END",
    to: "excluded.since",
    test: TESTS,
  },
  {
    fault: "the answer overwrites a confirmation that came before it",
    file: STORE,
    from: "const IS_CONFIRMED = `",
    to: "const IS_CONFIRMED = `1 = 0 AND ",
    test: TESTS,
  },
  {
    fault: "a confirmation counts for a later change",
    file: STORE,
    from: "row.sent !== version || row.changes !== row.sent_changes",
    to: "row.sent !== version",
    test: TESTS,
  },
  {
    fault: "the look at ends does not go back with the clock",
    file: STORE,
    from: 'await putOnlyRow(tx, "endsTold"',
    to: 'if (last === undefined || last.toldUntil < now) await putOnlyRow(tx, "endsTold"',
    test: TESTS,
  },
  {
    fault: "a restore forgets the versions that were sent",
    file: STORE,
    from: "next_at: at, sent: at }",
    to: "next_at: at, sent: 0 }",
    test: TESTS,
  },
  {
    fault: "a restored database waits for confirmations that came already",
    file: STORE,
    from: '.set({ state: "open", nextAt: now, sentChanges: 0 })',
    to: ".set({ nextAt: now, sentChanges: 0 })",
    test: TESTS,
  },
  {
    fault: "failures of an outage count for a subject",
    file: "packages/server/src/domain/target.ts",
    from: "failures < RETRY_SECONDS.length || tookAgoMs <= LONGEST_PAUSE_MS ? failures + 1 : failures",
    to: "failures + 0 * tookAgoMs + 1",
    test: TESTS,
  },
  {
    fault: "what a receiver said failed is sent again by itself",
    file: STORE,
    from: "[{ ...row, state, problem: detail }]",
    to: "[{ ...row, problem: detail }]",
    test: TESTS,
  },
  {
    fault: "a state that is read later has the same number",
    file: "packages/server/src/workers/due-delivery.ts",
    from: "Math.max(clock(), this.#number + 1)",
    to: "clock()",
    test: TESTS,
  },
  {
    fault: "a partner is told of the facts of others",
    file: "packages/server/src/domain/news.ts",
    from: "one.partnerId === other.partnerId && ",
    to: "",
    test: "packages/server/test/domain/news.test.ts",
  },
  {
    fault: "rows of a removed target stay",
    file: STORE,
    from: 'for (const id of await removedIn(tx, "due"))',
    to: "for (const id of [] as number[])",
    test: "packages/server/test/store/sqlite.test.ts",
    title: "facts that a webhook does not take are dropped after 30 days",
  },
];
