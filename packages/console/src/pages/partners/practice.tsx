import { useApi, useUpload } from "../../api/hooks.ts";
import { useMay } from "../../api/session.tsx";
import type { PracticeCall, PracticeCertificate, PracticeReport, PracticeResult } from "../../api/staff-api.d.ts";
import { Button } from "../../components/button.tsx";
import { FileInput } from "../../components/controls.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Badge, Card, Code, Fact, Time } from "../../components/display.tsx";
import { Field, Form, type FormValues } from "../../components/form.tsx";
import { PaperHead } from "../../components/paper.tsx";
import { Loaded, Note } from "../../components/states.tsx";
import { formatCount, secondsBetween } from "../../format.ts";
import { texts } from "../../texts/index.ts";

const t = texts.partners;

/** A partner's practice with faults, and its certificate to print. */
export function Practice({ partner }: { partner: string }) {
  const report = useApi("GET /partners/:partner/practice", { partner });
  const upload = useUpload("POST /partners/:partner/practice");
  const mayCertify = useMay("administer");
  const submit = async (values: FormValues) => {
    const file = values.file("file");
    if (file !== undefined) await upload.mutateAsync({ partner, file });
  };
  return (
    <>
      {mayCertify && (
        <div className="no-print">
          <Card title={t.theirList}>
            <Form submit={t.checkList} onSubmit={submit}>
              <Field name="file" label={t.orders} hint={t.theirListHint}>
                <FileInput required accept=".csv" />
              </Field>
            </Form>
          </Card>
        </div>
      )}
      <Loaded of={{ ...report, data: upload.data ?? report.data }}>{(found) => <Report report={found} />}</Loaded>
    </>
  );
}

/** The report, and the certificate: once there is one, only that is printed. */
function Report({ report }: { report: PracticeReport }) {
  const { partner, at, versions, calls, topUps, hasList, certificate, faults } = report;
  const isCertified = certificate !== null;
  return (
    <>
      {isCertified && <Certificate partner={partner} of={certificate} />}
      <div className={isCertified ? "no-print" : "stack"}>
        {!isCertified && (
          <PaperHead title={t.practiceReport}>
            <Fact label={texts.settlement.partner} value={partner} />
            <Fact label={t.reported} value={<Time of={at} />} />
            <Fact label={t.versions} value={versions.join(", ")} />
            <Fact label={t.calls} value={formatCount(calls)} />
            <Fact label={t.topUps} value={formatCount(topUps)} />
          </PaperHead>
        )}
        <Card title={t.faults} actions={!isCertified && <Print />}>
          {!hasList && !isCertified && <Note>{t.withoutList}</Note>}
          <DataTable label={t.practiceReport} columns={COLUMNS} rows={faults} rowKey={({ fault }) => fault} />
        </Card>
      </div>
    </>
  );
}

function Certificate({ partner, of: { certifiedAt, versions, faults } }: { partner: string; of: PracticeCertificate }) {
  return (
    <>
      <PaperHead title={t.certificate}>
        <Fact label={texts.settlement.partner} value={partner} />
        <Fact label={t.certified} value={<Time of={certifiedAt} />} />
        <Fact label={t.versions} value={versions.join(", ")} />
      </PaperHead>
      <Card title={t.certificate} actions={<Print />}>
        <div className="no-print">
          <Note tone="success">
            <p>
              {t.certified} <Time of={certifiedAt} />
            </p>
          </Note>
        </div>
        <DataTable label={t.certificate} columns={CERTIFIED} rows={faults} rowKey={({ fault }) => fault} />
      </Card>
    </>
  );
}

function Print() {
  return (
    <span className="no-print">
      <Button onClick={() => window.print()}>{texts.common.print}</Button>
    </span>
  );
}

const CERTIFIED: readonly Column<PracticeCertificate["faults"][number]>[] = [
  { header: t.fault, cell: ({ fault }) => <Code>{fault}</Code> },
  { header: texts.transactions.checkoutId, cell: ({ checkoutId }) => <Code>{checkoutId}</Code> },
];

const TONES = { not_tried: "neutral", open: "info", passed: "success", failed: "danger" } as const;

const COLUMNS: readonly Column<PracticeResult>[] = [
  { header: t.fault, cell: ({ fault }) => <Code>{fault}</Code> },
  { header: t.verdict, cell: ({ verdict }) => <Badge tone={TONES[verdict]}>{t.verdicts[verdict]}</Badge> },
  { header: t.recorded, cell: ({ recorded }) => t.recordedAs[recorded] },
  { header: t.listed, cell: ({ listed }) => listed ?? "–" },
  {
    header: t.evidence,
    cell: ({ broken, calls }) => (
      <>
        {broken.map(({ rule, problem, calls: proof }) => (
          <div key={rule}>
            <strong>{t.rules[rule]}.</strong> {problem}
            <Calls calls={proof} />
          </div>
        ))}
        {broken.length === 0 && <Calls calls={calls} />}
      </>
    ),
  },
];

/** Calls with the seconds since the first one. */
function Calls({ calls }: { calls: readonly PracticeCall[] }) {
  return (
    <ul className="changes">
      {calls.map(({ at, operation, outcome, checkoutId }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two calls can be equal, and none moves
        <li key={index} title={checkoutId}>
          {index === 0 ? <Time of={at} exact /> : t.later(secondsBetween(calls[0]?.at ?? at, at))}
          <span className="muted">{operation}</span> {texts.refusedCalls.outcomes[outcome] ?? outcome}
        </li>
      ))}
    </ul>
  );
}
