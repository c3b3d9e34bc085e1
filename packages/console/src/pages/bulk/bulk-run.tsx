import { useState } from "react";
import { Link, useLocation } from "wouter";
import { apiUrl } from "../../api/client.ts";
import { useLive, usePages, usePoll, useSend } from "../../api/hooks.ts";
import type { BulkLine, BulkRun } from "../../api/staff-api.d.ts";
import { Approvals, bulkWords } from "../../components/approvals.tsx";
import { Button, DownloadButton } from "../../components/button.tsx";
import { type Column, PagedTable } from "../../components/data-table.tsx";
import { ActionButton, ActionDialog, ReasonField } from "../../components/dialog.tsx";
import {
  Badge,
  Card,
  CustomerName,
  connectionName,
  Fact,
  Grid,
  KeyValue,
  Stat,
  Time,
} from "../../components/display.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { EmptyState, Loaded, Note, Progress } from "../../components/states.tsx";
import { countOf, formatCount } from "../../format.ts";
import { customerHref } from "../../links.ts";
import type { PageProps } from "../../page-props.ts";
import { texts } from "../../texts/index.ts";
import { isUnderWay, TONES } from "../../work-states.ts";

const t = texts.bulk;

export default function BulkRunPage({ params: { id = "" } }: PageProps) {
  const { bulk, bulkRun } = texts.shell.pages;
  return (
    <>
      <PageHead title={`${bulkRun} ${id}`} up={{ href: "/bulk", title: bulk }} />
      <BulkState id={Number(id)} />
    </>
  );
}

/** A bulk change: its preview, and its progress once it is started. */
export function BulkState({ id }: { id: number }) {
  const run = usePoll("GET /bulk/:id", { id }, ({ state }) => !isUnderWay(state));
  return <Loaded of={run}>{(found) => <Shown run={found} />}</Loaded>;
}

function Shown({ run }: { run: BulkRun }) {
  const { id, action, reverses, state, startedAt } = run;
  const isGoodwill = action === "goodwill";
  return (
    <>
      <Card title={startedAt === null ? t.preview : t.run} actions={<Steps run={run} />}>
        <Facts run={run} />
        {state === "checking" && <p role="status">{t.reading(countOf(run.lines, "line"))}</p>}
        {startedAt !== null && (
          <Progress
            label={t.progress(formatCount(run.done), countOf(run.count, "connection"))}
            done={run.done}
            of={run.count}
          />
        )}
        <Counts run={run} />
        <Notes run={run} />
      </Card>
      {isPreview(run) && (
        <Lines title={t.effects} id={id} columns={isGoodwill || reverses !== null ? [...WHOM, ...ENDS] : WHOM} />
      )}
      {run.problems > 0 && state !== "checking" && (
        <Lines key={run.problems} title={t.problems} id={id} problems columns={PROBLEMS} />
      )}
    </>
  );
}

function isPreview({ state }: BulkRun): boolean {
  return state === "checked" || state === "waiting";
}

/** The order: what is changed, by whom and why. */
function Facts({ run }: { run: BulkRun }) {
  const { author, reason, environment, plan, runningAt, reverses, state, startedAt } = run;
  return (
    <KeyValue>
      <Fact label={t.state} value={<Badge tone={TONES[state]}>{t.states[state]}</Badge>} />
      <Fact label={t.action} value={bulkWords(run)} />
      {plan !== null && <Fact label={t.plan} value={plan} />}
      {runningAt !== null && <Fact label={t.runningAt} value={runningAt} />}
      {reverses !== null && (
        <Fact label={t.reverses} value={<Link href={`/bulk/${reverses}`}>{`${t.run} ${reverses}`}</Link>} />
      )}
      <Fact label={t.reason} value={reason} />
      <Fact label={t.environment} value={texts.common.environments[environment]} />
      <Fact label={t.author} value={author} />
      <Fact
        label={startedAt === null ? t.createdAt : t.startedAt}
        value={<Time of={startedAt ?? run.createdAt} exact />}
      />
    </KeyValue>
  );
}

function Counts({ run }: { run: BulkRun }) {
  const isGoodwill = run.action === "goodwill";
  return (
    <Grid>
      <Stat label={run.startedAt === null ? t.count : t.connections} value={formatCount(run.count)} />
      <Stat label={t.unclear} value={formatCount(run.problems)} />
      <Stat label={t.duplicates} value={formatCount(run.duplicates)} />
      {isGoodwill && <Stat label={t.repeated} value={formatCount(run.repeated)} />}
      {isGoodwill && <Stat label={t.startsAgain} value={formatCount(run.startsAgain)} />}
    </Grid>
  );
}

/** Notes about the state of the run. */
function Notes({ run }: { run: BulkRun }) {
  const { state, startedAt, problem } = run;
  return (
    <>
      {state === "running" && <p className="muted">{t.runLeave}</p>}
      {state === "checked" && run.secondPerson && <Note>{t.secondPerson}</Note>}
      {state === "waiting" && <Waiting run={run} />}
      {isPreview(run) && run.repeated > 0 && <Note tone="warning">{t.repeatedNote}</Note>}
      {(state === "refused" || state === "failed") && <Note tone="danger">{problem}</Note>}
      {state === "cancelled" && <Note tone="warning">{startedAt === null ? t.expired : t.cancelled}</Note>}
    </>
  );
}

/** The request to a second person. Its decision changes the state of the run. */
function Waiting({ run: { id, environment } }: { run: BulkRun }) {
  useLive("GET /bulk/:id", { id });
  return <Approvals environment={environment} bulkId={id} />;
}

/** The next steps of a bulk change. */
function Steps({ run }: { run: BulkRun }) {
  const { id, action, count, state, startedAt, secondPerson } = run;
  const start = useSend("POST /bulk/:id/start");
  const pause = useSend("POST /bulk/:id/pause");
  const goOn = useSend("POST /bulk/:id/continue");
  const cancel = useSend("POST /bulk/:id/cancel");
  const reverse = useSend("POST /bulk/:id/reversal");
  const [, goTo] = useLocation();
  const [asking, setAsking] = useState<"start" | "reverse">();
  const order = bulkWords(run);
  const danger = action === "block";
  const step = (send: Pick<typeof pause, "mutateAsync">, label: string) => (
    <ActionButton kind="quiet" action={async () => t.states[(await send.mutateAsync({ id })).state]}>
      {label}
    </ActionButton>
  );
  return (
    <>
      {startedAt !== null && (
        <DownloadButton href={apiUrl("GET /bulk/:id/lines.csv", { id })}>{texts.common.download}</DownloadButton>
      )}
      {state === "checked" && count > 0 && (
        <Button kind={danger ? "danger" : "primary"} onClick={() => setAsking("start")}>
          {order}
        </Button>
      )}
      {state === "running" && step(pause, t.pause)}
      {(state === "paused" || state === "failed") && step(goOn, t.continue)}
      {(state === "running" || state === "paused") && step(cancel, texts.common.cancel)}
      {run.reversible && <Button onClick={() => setAsking("reverse")}>{t.reverse}</Button>}
      {asking === "reverse" && (
        <ActionDialog
          title={t.reverse}
          description={t.reverseText}
          submit={t.preview}
          onSubmit={async (values) => {
            const { id: next } = await reverse.mutateAsync({ id, reason: values.text("reason") });
            goTo(`/bulk/${next}`);
            return {};
          }}
          onClose={() => setAsking(undefined)}
        >
          <ReasonField required />
        </ActionDialog>
      )}
      {asking === "start" && (
        <ActionDialog
          title={order}
          description={secondPerson ? t.secondPerson : t.confirmText}
          submit={order}
          danger={danger}
          onSubmit={async () => {
            await start.mutateAsync({ id });
            return {};
          }}
          onClose={() => setAsking(undefined)}
        />
      )}
    </>
  );
}

interface LinesProps {
  readonly title: string;
  readonly id: number;
  readonly problems?: boolean;
  readonly columns: readonly Column<BulkLine>[];
}

function Lines({ title, id, problems = false, columns }: LinesProps) {
  const pages = usePages("GET /bulk/:id/lines", { id, problems });
  return (
    <Card title={title}>
      <PagedTable
        pages={pages}
        label={title}
        columns={columns}
        rowKey={({ line, service, reqId }) => `${line} ${service} ${reqId}`}
        empty={<EmptyState title={t.nothingTitle}>{t.nothingText}</EmptyState>}
      />
    </Card>
  );
}

/** The text of a line; if it means several connections, with all that it means. */
function textOf({ text, whole, cuid, customer }: BulkLine): string {
  if (whole === null) return text;
  const connections = whole === 1 ? t.onlyOne : t.allOf(countOf(whole, "connection"));
  const isOfCustomer = customer !== null && !/^(segment|area) /.test(text);
  return t.whole(
    text,
    connections,
    isOfCustomer ? t.ofCustomer(`${customer.firstName} ${customer.lastName}`, cuid) : "",
  );
}

const GIVEN: readonly Column<BulkLine>[] = [
  { header: t.line, isNumber: true, place: "hidden", cell: ({ line }) => formatCount(line) },
  { header: t.text, isWide: true, cell: textOf },
];

const CONNECTION: Column<BulkLine> = {
  header: t.connection,
  cell: ({ service, reqId }) => service !== null && reqId !== null && connectionName({ service, reqId }),
};

const WHOM: readonly Column<BulkLine>[] = [
  ...GIVEN,
  {
    header: t.customer,
    place: "name",
    cell: ({ cuid, customer }) =>
      cuid !== null && (
        <Link href={customerHref({ cuid })}>
          <CustomerName cuid={cuid} customer={customer} />
        </Link>
      ),
  },
  CONNECTION,
];

const ENDS: readonly Column<BulkLine>[] = [
  { header: t.subscription, cell: ({ after, plan }) => after?.name ?? plan ?? "–" },
  { header: t.before, place: "hidden", cell: ({ before }) => <Time of={before?.end ?? null} /> },
  { header: t.after, place: "amount", cell: ({ after }) => <Time of={after?.end ?? null} /> },
  {
    header: t.note,
    cell: ({ repeated, startsAgain }) => {
      const notes = [...(repeated ? [t.repeatedBadge] : []), ...(startsAgain ? [t.startsAgain] : [])];
      return notes.map((note) => (
        <Badge key={note} tone="warning">
          {note}
        </Badge>
      ));
    },
  },
];

const PROBLEMS: readonly Column<BulkLine>[] = [
  ...GIVEN,
  CONNECTION,
  { header: t.problem, cell: ({ problem }) => problem },
];
