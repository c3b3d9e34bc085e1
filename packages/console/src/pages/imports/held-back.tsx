import { useState } from "react";
import { Link } from "wouter";
import { apiUrl } from "../../api/client.ts";
import { useCorrection, usePages } from "../../api/hooks.ts";
import { asInput, type CorrectionInput } from "../../api/request.ts";
import { useMay } from "../../api/session.tsx";
import type { HeldBack, HeldBackDecision } from "../../api/staff-api.d.ts";
import { Button, DownloadButton } from "../../components/button.tsx";
import { type Column, PagedTable } from "../../components/data-table.tsx";
import { ActionDialog, ReasonField, whyNot } from "../../components/dialog.tsx";
import { Amount, BeforeAfter, Code, CustomerName, Time } from "../../components/display.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { FilterBar, useFilters } from "../../components/filters.tsx";
import { EmptyState, ErrorNote, Note } from "../../components/states.tsx";
import { countOf, formatCount } from "../../format.ts";
import { customerHref, transactionHref } from "../../links.ts";
import { texts } from "../../texts/index.ts";
import {
  BOUQUET,
  CONNECTION,
  GoodwillQuestion,
  KEPT_BY,
  KEPT_END,
  KeptEnd,
  STATED_END,
  StatedEnd,
} from "./findings.tsx";

const t = texts.imports;

type Input = CorrectionInput<"POST /held-back">;
type Failures = HeldBackDecision["failures"];

const NOTHING: ReadonlySet<string> = new Set();

/** Subscriptions that the last customers file would have shortened. Staff decide for one or many customers at once. */
export function HeldBackList() {
  const [{ kind }] = useFilters(["kind"]);
  const query = { environment: useEnvironment(), ...asInput("GET /held-back", { kind: kind || undefined }) };
  const heldBack = usePages("GET /held-back", query);
  const mayDecide = useMay("administer");
  /** Customers, or all rows of the filter. */
  const [chosen, setChosen] = useState<ReadonlySet<string> | "all">(NOTHING);
  const [asked, setAsked] = useState<Input["decision"]>();
  const [failures, setFailures] = useState<Failures>([]);
  const { items } = heldBack;
  const { count = 0, first, totals = [], advice = null } = heldBack.first ?? {};
  const held = chosen === "all" ? items : items.filter(({ cuid }) => chosen.has(cuid));
  const why = held.length === 0 ? t.chooseFirst : undefined;
  const toggle = (cuid: string) => {
    const next = new Set(held.map((each) => each.cuid));
    if (!next.delete(cuid)) next.add(cuid);
    setChosen(next);
  };
  return (
    <>
      {advice !== null && <Note tone="danger">{advice}</Note>}
      {totals.length > 0 && (
        <>
          <p>
            {t.heldBackLead} {t.heldBackTodo}
          </p>
          <p>{totals.map((each) => `${t.heldBackKinds[each.kind]}: ${formatCount(each.count)}`).join(", ")}</p>
          <FilterBar filters={{ kind: { label: t.keptBy, options: Object.entries(t.heldBackKinds) } }} />
        </>
      )}
      {failures.length > 0 && <NotDecided of={failures} />}
      {items.length > 0 && (
        <div className="row">
          {mayDecide && (
            <>
              <Button why={why} onClick={() => setAsked("keep")}>
                {t.keep}
              </Button>
              <Button why={why} onClick={() => setAsked("shorten")}>
                {t.shorten}
              </Button>
              <Button kind="quiet" onClick={() => setChosen("all")}>
                {t.chooseAll(formatCount(count))}
              </Button>
              <span className="muted" role="status">
                {t.chosen(chosen === "all" ? countOf(count, "subscription") : countOf(chosen.size, "customer"))}
              </span>
            </>
          )}
          <DownloadButton href={apiUrl("GET /held-back.csv", query)}>{texts.common.download}</DownloadButton>
        </div>
      )}
      <PagedTable
        label={t.heldBack}
        pages={heldBack}
        columns={mayDecide ? [choice(chosen, toggle), ...COLUMNS] : COLUMNS}
        rowKey={({ id }) => String(id)}
        empty={<EmptyState title={t.noHeldBack}>{t.noHeldBackHint}</EmptyState>}
      />
      {asked !== undefined && (
        <Decide
          input={{
            ...query,
            ...(chosen === "all" ? { count, first: first ?? 0 } : { ids: held.map(({ id }) => id) }),
            decision: asked,
          }}
          held={held}
          onDone={(failed) => {
            setFailures(failed);
            setChosen(NOTHING);
          }}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  );
}

function NotDecided({ of }: { of: Failures }) {
  return (
    <Note tone="warning">
      <p>{t.notDecided}</p>
      <ul>
        {of.map(({ cuid, problem }) => (
          <li key={cuid}>
            <Link href={customerHref({ cuid })}>{cuid}</Link>: {problem}
          </li>
        ))}
      </ul>
    </Note>
  );
}

function choice(chosen: ReadonlySet<string> | "all", toggle: (cuid: string) => void): Column<HeldBack> {
  return {
    header: t.choose,
    hideHeader: true,
    cell: ({ cuid, reqId }) => (
      <input
        type="checkbox"
        className="row-choice"
        aria-label={t.chooseRow(cuid, reqId)}
        checked={chosen === "all" || chosen.has(cuid)}
        onChange={() => toggle(cuid)}
      />
    ),
  };
}

const COLUMNS: readonly Column<HeldBack>[] = [
  {
    header: t.customer,
    cell: ({ cuid, customer }) => (
      <Link href={customerHref({ cuid })}>
        <CustomerName cuid={cuid} customer={customer} />
      </Link>
    ),
  },
  CONNECTION,
  BOUQUET,
  KEPT_END,
  {
    header: KEPT_BY.header,
    isWide: true,
    cell: (held) =>
      held.topUp === null || held.rowEnd !== null ? KEPT_BY.cell(held) : <KeptBy held={held} topUp={held.topUp} />,
  },
  STATED_END,
];

function KeptBy({ held: { txnId }, topUp }: { held: HeldBack; topUp: NonNullable<HeldBack["topUp"]> }) {
  const { partner, amount, txnDate } = topUp;
  return (
    <Link href={transactionHref({ txnId: txnId ?? "" })}>
      {partner}, <Amount of={amount} />, <Time of={txnDate} />
    </Link>
  );
}

interface DecideProps {
  readonly input: Input;
  /** Loaded rows to show. */
  readonly held: readonly HeldBack[];
  readonly onDone: (failures: Failures) => void;
  readonly onClose: () => void;
}

/** Ends that the dialog shows. */
const MOST_SHOWN = 5;

/** Shows the effect of a decision, and asks for its reason. */
function Decide({ input, held, onDone, onClose }: DecideProps) {
  const [goodwill, setGoodwill] = useState("");
  const reading = asInput("POST /held-back", { goodwill: goodwill || undefined });
  const { effect, error, isReady, commit } = useCorrection("POST /held-back", { ...input, ...reading });
  const isShortened = input.decision === "shorten";
  const isAsked = isShortened && effect !== undefined && effect.goodwillUnclear > 0;
  const customers = countOf(effect?.customers ?? 0, "customer");
  return (
    <ActionDialog
      title={isShortened ? t.shortenTitle : t.keepTitle}
      description={isShortened ? t.shortenText : t.keepText}
      submit={isShortened ? t.shortenConfirm(customers) : t.keepConfirm(customers)}
      danger={isShortened}
      why={whyNot(!isAsked || goodwill !== "", error, isReady ? effect : undefined)}
      onSubmit={async (values) => {
        const done = await commit(values.text("reason"));
        onDone(done.failures);
        return done.customers === 0 ? {} : { toast: t.decided(countOf(done.customers, "customer")) };
      }}
      onClose={onClose}
    >
      {error !== null && <ErrorNote error={error} />}
      {effect !== undefined && (
        <p role="status">
          {t.decides(countOf(effect.subscriptions, "subscription"))}{" "}
          {isShortened && t.shortenEnds(countOf(effect.endsRunning, "running subscription"))}
        </p>
      )}
      {isShortened && held.slice(0, MOST_SHOWN).map((each) => <Ends key={each.id} held={each} />)}
      {isAsked && (
        <GoodwillQuestion
          count={effect.goodwillUnclear}
          value={goodwill}
          onChange={({ currentTarget }) => setGoodwill(currentTarget.value)}
        />
      )}
      <ReasonField required />
    </ActionDialog>
  );
}

function Ends({ held }: { held: HeldBack }) {
  const { cuid, customer, service, reqId, bouquetId, keptEnd } = held;
  return (
    <>
      <p>
        <CustomerName cuid={cuid} customer={customer} /> {texts.common.services[service]} <Code>{reqId}</Code>{" "}
        <Code>{bouquetId}</Code>
      </p>
      <BeforeAfter before={<KeptEnd of={keptEnd} />} after={<StatedEnd of={held} />} />
    </>
  );
}
