import { useState } from "react";
import { useApi, useSend } from "../../api/hooks.ts";
import { ApiProblem } from "../../api/problem.ts";
import { useMe } from "../../api/session.tsx";
import type { StaffSession } from "../../api/staff-api.d.ts";
import { OwnPasswordField, ownPassword, TextInput } from "../../components/controls.tsx";
import { type Column, LoadedTable } from "../../components/data-table.tsx";
import { ActionButton } from "../../components/dialog.tsx";
import { Badge, Card, Grid, Time } from "../../components/display.tsx";
import { Field, Form, type FormValues } from "../../components/form.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { EmptyState, Note } from "../../components/states.tsx";
import { useToast } from "../../components/toasts.tsx";
import { texts } from "../../texts/index.ts";
import { RecoveryCodes, TotpCard } from "./one-time-codes.tsx";

const t = texts.account;

export default function Account() {
  const { name, role, mustSetUp, logsInWith } = useMe();
  const [recoveryCodes, setRecoveryCodes] = useState<readonly string[]>();
  // The codes replace the page, so that only they are printed.
  if (recoveryCodes) return <RecoveryCodes codes={recoveryCodes} onClose={() => setRecoveryCodes(undefined)} />;
  return (
    <>
      <PageHead
        title={texts.shell.pages.account}
        lead={
          <>
            {name} · {texts.account.lead(texts.common.roles[role])}
          </>
        }
      />
      {mustSetUp !== null && (
        <Note tone="warning">
          <p>{t.setUp[mustSetUp]}</p>
        </Note>
      )}
      {logsInWith === "password" && (
        <Grid wide>
          <PasswordCard />
          <TotpCard onSwitchedOn={setRecoveryCodes} />
        </Grid>
      )}
      <SessionsCard />
    </>
  );
}

function PasswordCard() {
  const send = useSend("PUT /session/password");
  const toast = useToast();
  /** Counts the changes. A new count empties the fields. */
  const [times, setTimes] = useState(0);
  const submit = async (values: FormValues) => {
    const password = values.raw("password");
    if (values.raw("again") !== password) throw ApiProblem.ofField("again", t.notTheSame);
    await send.mutateAsync({ password, ...ownPassword(values) });
    setTimes(times + 1);
    toast(t.changed);
  };
  return (
    <Card title={t.password}>
      <Form key={times} submit={t.change} onSubmit={submit}>
        <OwnPasswordField />
        <Field name="password" label={t.next} hint={t.nextHint}>
          <TextInput required type="password" minLength={12} maxLength={256} autoComplete="new-password" />
        </Field>
        <Field name="again" label={t.again}>
          <TextInput required type="password" autoComplete="new-password" />
        </Field>
      </Form>
    </Card>
  );
}

/** Sessions of the account. */
function SessionsCard() {
  const sessions = useApi("GET /session/all");
  return (
    <Card title={t.sessions}>
      <LoadedTable
        list={sessions}
        label={t.sessionsList}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        empty={<EmptyState title={t.noSessions} />}
      />
    </Card>
  );
}

const COLUMNS: readonly Column<StaffSession>[] = [
  {
    header: t.device,
    cell: ({ userAgent, current }) => (
      <span className="row" title={userAgent ?? undefined}>
        {deviceOf(userAgent)} {current && <Badge tone="info">{t.thisOne}</Badge>}
      </span>
    ),
  },
  { header: t.address, cell: ({ address }) => <span className="number">{address ?? "–"}</span> },
  { header: t.since, cell: ({ createdAt }) => <Time of={createdAt} /> },
  { header: t.lastUse, cell: ({ lastUsedAt }) => <Time of={lastUsedAt} age /> },
  {
    header: texts.common.actions,
    hideHeader: true,
    place: "amount",
    isNumber: true,
    cell: (session) => !session.current && <EndButton session={session} />,
  },
];

function EndButton({ session: { id, userAgent } }: { session: StaffSession }) {
  const send = useSend("DELETE /session/all/:id");
  const end = async () => {
    await send.mutateAsync({ id });
    return t.ended;
  };
  return (
    <ActionButton kind="quiet" aria-label={t.endOf(deviceOf(userAgent))} action={end}>
      {t.end}
    </ActionButton>
  );
}

/** The first match counts: each of these browsers also names those below it. */
const BROWSERS = [
  [/\bEdg/, "Edge"],
  [/\bFirefox\//, "Firefox"],
  [/Chrome\//, "Chrome"],
  [/\bSafari\//, "Safari"],
] as const;
const SYSTEMS = [
  [/iPhone|iPad/, "iOS"],
  [/Android/, "Android"],
  [/Windows/, "Windows"],
  [/Mac OS X/, "macOS"],
  [/Linux|X11/, "Linux"],
] as const;

function deviceOf(userAgent: string | null): string {
  if (userAgent === null) return t.unknownDevice;
  const [browser, system] = [BROWSERS, SYSTEMS].map((kinds) => kinds.find(([shape]) => shape.test(userAgent))?.[1]);
  if (browser !== undefined && system !== undefined) return t.deviceOn(browser, system);
  return browser ?? userAgent.slice(0, 60);
}
