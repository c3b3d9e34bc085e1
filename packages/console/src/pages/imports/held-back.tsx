import { useState } from "react";
import { Link } from "wouter";
import { usePages, useSend } from "../../api/hooks.ts";
import { asInput } from "../../api/request.ts";
import { useMay } from "../../api/session.tsx";
import type { HeldBack } from "../../api/staff-api.d.ts";
import { Button } from "../../components/button.tsx";
import { type Column, PagedTable } from "../../components/data-table.tsx";
import { ActionDialog } from "../../components/dialog.tsx";
import { Amount, BeforeAfter, Code, CustomerName, Fact, KeyValue, Time } from "../../components/display.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { EmptyState, Note } from "../../components/states.tsx";
import { countOf } from "../../format.ts";
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

type Decision = "keep" | "shorten";

/** A decision that could not be carried out. */
interface Failure {
  readonly cuid: string;
  readonly problem: string;
}

/** Subscriptions that the last customers file would have shortened. Staff decide for one or many customers at once. */
export function HeldBackList() {
  const heldBack = usePages("GET /held-back", { environment: useEnvironment() });
  const mayDecide = useMay("administer");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [asked, setAsked] = useState<{ decision: Decision; held: readonly HeldBack[] }>();
  const [failures, setFailures] = useState<readonly Failure[]>([]);
  const { items } = heldBack;
  const held = items.filter(({ cuid }) => chosen.has(cuid));
  const ask = (decision: Decision) => setAsked({ decision, held });
  const toggle = (cuid: string) => {
    const next = new Set(chosen);
    if (!next.delete(cuid)) next.add(cuid);
    setChosen(next);
  };
  return (
    <>
      {items.length > 0 && (
        <p>
          {t.heldBackLead} {t.heldBackTodo}
        </p>
      )}
      {failures.length > 0 && <Failures of={failures} />}
      {mayDecide && items.length > 0 && (
        <div className="row">
          <Button why={held.length === 0 ? t.chooseFirst : undefined} onClick={() => ask("keep")}>
            {t.keep}
          </Button>
          <Button why={held.length === 0 ? t.chooseFirst : undefined} onClick={() => ask("shorten")}>
            {t.shorten}
          </Button>
          <Button kind="quiet" onClick={() => setChosen(new Set(items.map(({ cuid }) => cuid)))}>
            {t.chooseAll}
          </Button>
          <span className="muted" role="status">
            {t.chosen(customersOf(held).length)}
          </span>
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
          {...asked}
          onDone={(failed) => {
            setFailures(failed);
            setChosen(new Set());
          }}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  );
}

/** The first record of each customer: a decision applies to all records of a customer. */
function customersOf(held: readonly HeldBack[]): HeldBack[] {
  return [...new Map(held.toReversed().map((each) => [each.cuid, each])).values()].reverse();
}

function Failures({ of }: { of: readonly Failure[] }) {
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

function choice(chosen: ReadonlySet<string>, toggle: (cuid: string) => void): Column<HeldBack> {
  return {
    header: t.choose,
    hideHeader: true,
    cell: ({ cuid, reqId }) => (
      <input
        type="checkbox"
        className="row-choice"
        aria-label={t.chooseRow(cuid, reqId)}
        checked={chosen.has(cuid)}
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
  readonly decision: Decision;
  readonly held: readonly HeldBack[];
  readonly onDone: (failures: readonly Failure[]) => void;
  readonly onClose: () => void;
}

/** Subscriptions that the dialog shows. */
const MOST_SHOWN = 5;

/** Asks once, then decides for one customer after the other. */
function Decide({ decision, held, onDone, onClose }: DecideProps) {
  const send = useSend("POST /held-back/:id");
  const [goodwill, setGoodwill] = useState("");
  const isShortened = decision === "shorten";
  const customers = customersOf(held);
  const unclear = held.filter((each) => each.goodwill !== null);
  const isAsked = isShortened && unclear.length > 0;
  const count = countOf(customers.length, "customer");
  const ended = held.filter(({ endsRunning }) => endsRunning).length;

  const decide = async ({ id, cuid }: HeldBack): Promise<Failure[]> => {
    const needsReading = isAsked && unclear.some((each) => each.cuid === cuid);
    const reading = needsReading ? asInput("POST /held-back/:id", { goodwill }) : {};
    return send.mutateAsync({ id, decision, ...reading }).then(
      () => [],
      (error: Error) => [{ cuid, problem: error.message }],
    );
  };
  const submit = async () => {
    const failures: Failure[] = [];
    for (const each of customers) failures.push(...(await decide(each)));
    onDone(failures);
    const done = customers.length - failures.length;
    return done === 0 ? {} : { toast: t.decided(countOf(done, "customer")) };
  };

  return (
    <ActionDialog
      title={isShortened ? t.shortenTitle : t.keepTitle}
      description={isShortened ? t.shortenText : t.keepText}
      submit={isShortened ? t.shortenConfirm(count) : t.keepConfirm(count)}
      danger={isShortened}
      why={isAsked && goodwill === "" ? texts.common.whyNot.incomplete : undefined}
      onSubmit={submit}
      onClose={onClose}
    >
      {held.slice(0, MOST_SHOWN).map((each) => (
        <Ends key={each.id} held={each} isShortened={isShortened} />
      ))}
      {isShortened && <p>{t.shortenEnds(countOf(ended, "running subscription"))}</p>}
      {held.length > MOST_SHOWN && <p>{t.andMore(countOf(held.length - MOST_SHOWN, "subscription"))}</p>}
      {isAsked && (
        <GoodwillQuestion
          count={unclear.length}
          value={goodwill}
          onChange={({ currentTarget }) => setGoodwill(currentTarget.value)}
        />
      )}
    </ActionDialog>
  );
}

function Ends({ held, isShortened }: { held: HeldBack; isShortened: boolean }) {
  const { cuid, customer, service, reqId, bouquetId, keptEnd } = held;
  const [kept, stated] = [<KeptEnd key="kept" of={keptEnd} />, <StatedEnd key="stated" of={held} />];
  return (
    <>
      <p>
        <CustomerName cuid={cuid} customer={customer} /> {texts.common.services[service]} <Code>{reqId}</Code>{" "}
        <Code>{bouquetId}</Code>
      </p>
      {isShortened ? (
        <BeforeAfter before={kept} after={stated} />
      ) : (
        <KeyValue>
          <Fact label={t.keptEnd} value={kept} />
          <Fact label={t.statedEnd} value={stated} />
        </KeyValue>
      )}
    </>
  );
}
