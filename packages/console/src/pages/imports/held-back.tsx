import { useState } from "react";
import { usePages, useSend } from "../../api/hooks.ts";
import { asInput } from "../../api/request.ts";
import { useMay } from "../../api/session.tsx";
import type { HeldBack } from "../../api/staff-api.d.ts";
import { Button } from "../../components/button.tsx";
import { type Column, PagedTable } from "../../components/data-table.tsx";
import { ActionDialog } from "../../components/dialog.tsx";
import { BeforeAfter, Code, Fact, KeyValue } from "../../components/display.tsx";
import { EmptyState } from "../../components/states.tsx";
import { useEnvironment } from "../../shell/environment.tsx";
import { texts } from "../../texts/index.ts";
import { GoodwillQuestion, HELD_BACK_COLUMNS, KeptEnd, StatedEnd } from "./findings.tsx";

const t = texts.imports;

interface Decision {
  readonly decision: "shorten" | "keep";
  readonly held: HeldBack;
}

/** Subscriptions that the last customers file would have shortened. Staff shorten or keep each. */
export function HeldBackList() {
  const heldBack = usePages("GET /held-back", { environment: useEnvironment() });
  const mayDecide = useMay("administer");
  const [asked, setAsked] = useState<Decision>();
  return (
    <>
      {heldBack.items.length > 0 && (
        <p>
          {t.heldBackLead} {t.heldBackTodo}
        </p>
      )}
      <PagedTable
        label={t.heldBack}
        pages={heldBack}
        columns={mayDecide ? [...HELD_BACK_COLUMNS, decisions(setAsked)] : HELD_BACK_COLUMNS}
        rowKey={({ id }) => String(id)}
        empty={<EmptyState title={t.noHeldBack}>{t.noHeldBackHint}</EmptyState>}
      />
      {asked !== undefined && (
        <Decide
          {...asked}
          ofCustomer={heldBack.items.filter(({ cuid }) => cuid === asked.held.cuid)}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  );
}

function decisions(ask: (decision: Decision) => void): Column<HeldBack> {
  return {
    header: texts.common.actions,
    hideHeader: true,
    cell: (held) => (
      <span className="row">
        <Button aria-label={`${t.keep} ${held.reqId}`} onClick={() => ask({ decision: "keep", held })}>
          {t.keep}
        </Button>
        <Button aria-label={`${t.shorten} ${held.reqId}`} onClick={() => ask({ decision: "shorten", held })}>
          {t.shorten}
        </Button>
      </span>
    ),
  };
}

interface DecideProps extends Decision {
  /** All held-back subscriptions of this customer: a decision applies to all. */
  readonly ofCustomer: readonly HeldBack[];
  readonly onClose: () => void;
}

function Decide({ decision, held, ofCustomer, onClose }: DecideProps) {
  const { id, cuid } = held;
  const send = useSend("POST /held-back/:id");
  const [goodwill, setGoodwill] = useState("");
  const isShortened = decision === "shorten";
  const unclear = ofCustomer.filter((each) => each.goodwill !== null).length;
  const isAsked = isShortened && unclear > 0;
  return (
    <ActionDialog
      title={isShortened ? t.shortenTitle : t.keepTitle}
      description={isShortened ? t.shortenText(cuid) : t.keepText}
      submit={isShortened ? t.shortenConfirm : t.keepConfirm}
      danger={isShortened}
      disabled={isAsked && goodwill === ""}
      onSubmit={async () => {
        await send.mutateAsync({ id, decision, ...(isAsked && asInput("POST /held-back/:id", { goodwill })) });
        return { toast: isShortened ? t.shortened(cuid) : t.kept };
      }}
      onClose={onClose}
    >
      {(isShortened ? ofCustomer : [held]).map((each) => (
        <Ends key={each.id} held={each} isShortened={isShortened} />
      ))}
      {isAsked && (
        <GoodwillQuestion
          count={unclear}
          value={goodwill}
          onChange={({ currentTarget }) => setGoodwill(currentTarget.value)}
        />
      )}
    </ActionDialog>
  );
}

function Ends({
  held: { service, reqId, bouquetId, keptEnd, statedEnd, goodwill },
  isShortened,
}: {
  held: HeldBack;
  isShortened: boolean;
}) {
  const stated = <StatedEnd of={{ statedEnd, goodwill }} />;
  return (
    <>
      <p>
        {texts.common.services[service]} <Code>{reqId}</Code> <Code>{bouquetId}</Code>
      </p>
      {isShortened ? (
        <BeforeAfter before={<KeptEnd of={keptEnd} />} after={stated} />
      ) : (
        <KeyValue>
          <Fact label={t.keptEnd} value={<KeptEnd of={keptEnd} />} />
          <Fact label={t.statedEnd} value={stated} />
        </KeyValue>
      )}
    </>
  );
}
