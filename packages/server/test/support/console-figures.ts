import type { Api, Run, Target } from "../../../console/src/api/staff-api.d.ts";
import { formatCount, formatMoney, formatTime } from "../../../console/src/format.ts";
import { whenWords } from "../../../console/src/pages/customers/ledger-words.ts";
import { texts } from "../../../console/src/texts/index.ts";
import type { Page } from "./browser.ts";

/* Every end, days left, state and total on a page of the console equals a field of an answer of the staff API. */

/** Keeps the last answer to each request of a page, with all loaded pages of a list, in the order in which they came. */
export const KEEP_ANSWERS = `{
  const answers = (window.answers = new Map());
  const keep = (method, address, answer) => {
    const url = new URL(address, location.href);
    const isNext = url.searchParams.has("cursor");
    url.searchParams.delete("cursor");
    const key = method + " " + url.pathname.replace("/api/v1", "") + url.search;
    const former = isNext ? answers.get(key) : [];
    answers.delete(key);
    answers.set(key, [...former, answer]);
  };
  const ask = window.fetch;
  window.fetch = async (address, options) => {
    const response = await ask(address, options);
    if (response.ok) await response.clone().json().then((answer) => keep(options.method, address, answer), () => {});
    return response;
  };
}`;

type Key = keyof Api;

/** One kind of shown records: the cells of each must be those of a record in the answer. */
interface Figures {
  readonly key: Key;
  /** Selects the element of each record. */
  readonly rows: string;
  /** Select its parts. */
  readonly cells: readonly string[];
  /** The cells of all records. */
  readonly expected: (answer: never) => readonly (readonly string[])[];
  /** Whether the first cell is a name, and other names do not matter. */
  readonly isNamed?: boolean;
}

function of<K extends Key>(
  key: K,
  rows: string,
  cells: readonly string[],
  expected: (answer: Api[K]["answer"]) => readonly (readonly string[])[],
  isNamed = false,
): Figures {
  return { key, rows, cells, expected, isNamed };
}

/** Cells of a table, by its name and headers. */
const inTable = (label: string, ...headers: readonly string[]) =>
  [`table[aria-label="${label}"] tbody tr`, headers.map((header) => `td[data-label="${header}"]`)] as const;
const stats = [".stat", [".stat-label", ".stat-value"]] as const;
const factsBelow = (path: string) => [`main:has(.page-up a[href="${path}"]) .card dl > div`, ["dt", "dd"]] as const;
const change = (within: string) =>
  [`${within} .before-after`, [":scope > :first-child .strong", ":scope > :last-child .strong"]] as const;

const { customers, transactions, partners, partnerAccounts, settlement, bulk, imports, overview, targets } = texts;
const money = (amount: string) => formatMoney(amount, "NPR");
const bare = (amount: string | null) => (amount === null ? "" : formatMoney(amount, null));
const end = (at: string | null | undefined, none = "–") => (at == null ? none : formatTime(at, "UTC"));
const ends = ({ before, after }: { readonly before: Run | null; readonly after: Run | null }) => [
  [end(before?.end, ""), end(after?.end, "")],
];
const available = ({ available: amount }: { readonly available: string | null }) =>
  amount === null ? partnerAccounts.anyAmount : money(amount);
const amounts = (sum: Api["GET /settlement"]["answer"]["total"]) => [
  ...[formatCount(sum.topUps), bare(sum.gross), formatCount(sum.reversals), bare(sum.reversed)],
  ...[bare(sum.commission), bare(sum.net)],
];
const parts = ({ base, taxes }: Pick<Api["GET /settlement"]["answer"]["total"], "base" | "taxes">) =>
  taxes === null || taxes.length === 0
    ? []
    : [[texts.common.withoutTaxes, money(base ?? "")], ...taxes.map(({ name, amount }) => [name, money(amount)])];
const SUMS = (["topUps", "gross", "reversals", "reversed", "commission", "net"] as const).map(
  (name) => settlement[name],
);
const listed = ({ items }: Api["GET /transactions"]["answer"]) =>
  items.map(({ cuid, amount, status }) => [cuid, bare(amount), transactions.statuses[status]]);
const LISTED = [
  `.customer-name .number`,
  ...[transactions.amount, transactions.status].map((name) => `td[data-label="${name}"]`),
];

const TARGETS = inTable(targets.list, targets.name, targets.state, targets.behind);
const targetCells = ({ name, state, behind }: Target) => [name, targets.states[state], formatCount(behind)];

const FIGURES: readonly Figures[] = [
  of("GET /connections", ...inTable(customers.list, customers.end, customers.daysLeft, customers.status), ({ items }) =>
    items.map((each) => [end(each.end), String(each.daysLeft ?? "–"), customers.planStates[each.state]]),
  ),
  of("GET /customers/:cuid", ".plan-lines", ["&"], ({ connections }) =>
    connections.map(({ plans }) => [
      plans
        .map((each) => {
          const { plan, state, run } = each;
          return `${run?.name ?? plan}${customers.planStates[state]}${run === null ? "" : whenWords(each, run)}`;
        })
        .join("") || customers.noSubscriptions,
    ]),
  ),
  of("POST /customers/:cuid/goodwill", ...change(".dialog:has(input[name=days])"), ends),
  of("GET /transactions", `table[aria-label="${transactions.list}"] tbody tr`, LISTED, listed),
  of("GET /transactions", `table[aria-label="${overview.latest}"] tbody tr`, LISTED, listed),
  of(
    "GET /transactions/totals",
    `main:has(table[aria-label="${transactions.list}"]) .page-head .muted`,
    ["&"],
    (sum) => {
      const reversed = `; ${transactions.reversedOf(formatCount(sum.reversed))}, ${money(sum.reversedAmount)}`;
      return [
        [
          `${formatCount(sum.count)} top-up${sum.count === 1 ? "" : "s"}, ${money(sum.amount)}${sum.reversed > 0 ? reversed : ""}`,
        ],
      ];
    },
  ),
  of(
    "GET /transactions/:id",
    ...factsBelow("/transactions"),
    ({ status, amount, commission, ...taxed }) => [
      [transactions.status, transactions.statuses[status]],
      [transactions.amount, money(amount)],
      [transactions.commission, money(commission)],
      ...parts(taxed),
    ],
    true,
  ),
  of("GET /transactions/:id", ...change('main:has(.page-up a[href="/transactions"])'), (found) => [
    ...ends(found),
    ...(found.reversal === null ? [] : ends(found.reversal)),
  ]),
  of(
    "GET /partners",
    ...inTable(partners.list, partners.name, partners.status, partnerAccounts.available),
    ({ items }) =>
      items.map((each) => {
        const refused = each.refusedToday.map(({ reason, count }) =>
          partners.refusedToday(formatCount(count), partners.refusals[reason]),
        );
        const state = each.state === "refused_today" ? refused.join("") : partners.partnerStates[each.state];
        return [each.name, state, available(each)];
      }),
  ),
  of(
    "GET /partners/:name/account",
    ...stats,
    (account) => [
      [partnerAccounts.balance, money(account.balance)],
      [partnerAccounts.available, available(account)],
    ],
    true,
  ),
  of(
    "GET /partners/:name/account/entries",
    ...inTable(partnerAccounts.entries, partnerAccounts.entry, partnerAccounts.amount, partnerAccounts.balance),
    ({ opening, closing, items }) => [
      ...items.map(({ kind, amount, balance }) => [partnerAccounts.lines[kind], bare(amount), bare(balance)]),
      [partnerAccounts.lines.opening, "", bare(opening)],
      [partnerAccounts.lines.closing, "", bare(closing)],
    ],
  ),
  of(
    "GET /partners/:name/statement",
    ...inTable(partnerAccounts.statement, partnerAccounts.entry, partnerAccounts.amount),
    ({ opening, closing, lines }) => [
      ...lines.map(({ kind, count, amount }) => [
        count === null ? partnerAccounts.lines[kind] : partnerAccounts.counted(kind, formatCount(count)),
        bare(amount),
      ]),
      [partnerAccounts.lines.opening, bare(opening)],
      [partnerAccounts.lines.closing, bare(closing)],
    ],
  ),
  of("GET /settlement", ...inTable(settlement.byPartner, settlement.partner, ...SUMS), ({ byPartner, total }) => [
    ...byPartner.map((each) => [each.partner, ...amounts(each)]),
    [settlement.total, ...amounts(total)],
  ]),
  of("GET /settlement", ...inTable(settlement.byDay, settlement.day, ...SUMS), ({ lines, total }) => [
    ...lines.map((each) => [each.day, ...amounts(each)]),
    [settlement.total, ...amounts(total)],
  ]),
  of(
    "GET /settlement",
    ...stats,
    ({ total }) => [
      ...(["gross", "reversed", "commission", "net"] as const).map((name) => [settlement[name], money(total[name])]),
      ...parts(total),
    ],
    true,
  ),
  of("GET /bulk/:id/lines", ...inTable(bulk.effects, bulk.before, bulk.after), ({ items }) =>
    items.map(({ before, after }) => [end(before?.end), end(after?.end)]),
  ),
  of("GET /bulk", ...inTable(bulk.runs, bulk.reason, bulk.connections, bulk.state), ({ items }) =>
    items.map(({ reason, count, state }) => [reason, formatCount(count), bulk.states[state]]),
  ),
  of("GET /held-back", ...inTable(imports.heldBack, imports.customer, imports.keptEnd), ({ items }) =>
    items.map(({ cuid, customer, keptEnd }) => [
      `${customer?.firstName} ${customer?.lastName} ${cuid}`,
      end(keptEnd, imports.nothingKept),
    ]),
  ),
  of("GET /targets", `:not(.card *) > ${TARGETS[0]}`, TARGETS[1], ({ items }) => items.map(targetCells)),
  of("GET /health", `.card ${TARGETS[0]}`, TARGETS[1], (health) => health.targets.map(targetCells)),
  of(
    "GET /statistics",
    ...stats,
    ({ days, total, refusedToday }) => {
      const t = overview.figures;
      const both = (label: string, sum: { topUps: number; amount: string }) => [
        [label, money(sum.amount)],
        [label, formatCount(sum.topUps)],
      ];
      const [yesterday, today] = days.slice(-2);
      return [
        ...(today === undefined ? [] : both(t.today, today)),
        ...(yesterday === undefined ? [] : both(t.yesterday, yesterday)),
        ...both(t.period(days.length), total),
        ...both(t.reversals(days.length), { topUps: total.reversals, amount: total.reversed }),
        [t.refusedToday, money(refusedToday.amount)],
      ];
    },
    true,
  ),
];

const READ = `(() => {
  const text = (element) => element === null ? "" : element.textContent.replace(/\\s+/g, " ").trim();
  const shortened = [...document.querySelectorAll("main :not(button, .txn-id *)")];
  return {
    shown: ${JSON.stringify(FIGURES.map(({ rows, cells }) => ({ rows, cells })))}.map(({ rows, cells }) =>
      [...document.querySelectorAll(rows)]
        .filter((row) => row.closest(".outdated") === null)
        .map((row) => cells.map((cell) => text(cell === "&" ? row : row.querySelector(cell))))),
    shortened: shortened.filter((each) => each.childElementCount === 0 && each.textContent.startsWith("…")).map(text),
    answers: [...(window.answers ?? [])],
  };
})()`;

interface Read {
  readonly shown: readonly (readonly (readonly string[])[])[];
  readonly shortened: readonly string[];
  readonly answers: readonly (readonly [key: string, pages: readonly { readonly items?: readonly unknown[] }[]])[];
}

const seen = new Set<Figures>();

/** Kinds of records that no page has shown so far. */
export function unseenFigures(): string[] {
  return FIGURES.filter((each) => !seen.has(each)).map(({ key, rows }) => `${key}: ${rows}`);
}

/** @returns records on the page as it stands that no answer has, and ids that are cut so that no search finds them. */
export async function findWrongFigures(page: Page): Promise<string[]> {
  const { shown, shortened, answers } = await page.evaluate<Read>(READ);
  const wrong = FIGURES.flatMap((figures, index) => {
    const { key, expected, isNamed = false } = figures;
    const records = (shown[index] ?? []).filter((cells) => cells.some((cell) => cell !== ""));
    if (records.length === 0) return [];
    const asked = new RegExp(`^${key.replaceAll(/:\w+/g, "(?!totals)[^/?]+")}(\\?|$)`);
    const told = answers.filter(([each]) => asked.test(each)).map(([, pages]) => expected(wholeOf(pages) as never));
    // A page that comes again may show what was read before.
    const found = told.map((all) => records.filter((record) => !isAmong(record, all, isNamed)));
    if (isNamed && !told.some((all) => all.some(([name]) => records.some(([first]) => first === name)))) return [];
    seen.add(figures);
    if (found.some((none) => none.length === 0)) return [];
    return (found.at(-1) ?? records).map((record) => `${key} says not: ${record.join(" | ")}`);
  });
  return [...wrong, ...shortened.map((id) => `No search finds ${id}`)];
}

function isAmong(record: readonly string[], all: readonly (readonly string[])[], isNamed: boolean): boolean {
  const named = isNamed ? all.filter(([name]) => name === record[0]) : all;
  return (isNamed && named.length === 0) || named.some((each) => each.join("\n") === record.join("\n"));
}

function wholeOf(pages: readonly { readonly items?: readonly unknown[] }[]): object {
  const [first, last] = [pages[0], pages.at(-1)];
  // The last part of a sum is the whole sum; the parts of a list are added.
  return first?.items === undefined ? { ...last } : { ...first, items: pages.flatMap(({ items = [] }) => items) };
}
