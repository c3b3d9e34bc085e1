import { useMemo } from "react";
import { useApi, useSend } from "../../api/hooks.ts";
import type { StaffSession } from "../../api/staff-api.d.ts";
import { Button } from "../../components/button.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Badge, Card, Time } from "../../components/display.tsx";
import { EmptyState, Loaded } from "../../components/states.tsx";
import { useToast } from "../../shell/toasts.tsx";
import { texts } from "../../texts/index.ts";

const t = texts.account;

/** Sessions of the account. */
export function SessionsCard() {
  const sessions = useApi("GET /session/all");
  return (
    <Card title={t.sessions}>
      <Loaded of={sessions}>
        {({ items }) => (
          <DataTable
            label={t.sessionsList}
            columns={COLUMNS}
            rows={items}
            rowKey={({ id }) => id}
            empty={<EmptyState title={t.noSessions} />}
          />
        )}
      </Loaded>
    </Card>
  );
}

const COLUMNS: readonly Column<StaffSession>[] = [
  {
    ...{ id: "device", header: t.device },
    cell: ({ userAgent, current }) => (
      <span className="row" title={userAgent ?? undefined}>
        {deviceOf(userAgent)} {current && <Badge tone="info">{t.thisOne}</Badge>}
      </span>
    ),
  },
  { id: "address", header: t.address, cell: ({ address }) => <span className="number">{address ?? "–"}</span> },
  { id: "since", header: t.since, cell: ({ createdAt }) => <Time of={createdAt} /> },
  { id: "lastUse", header: t.lastUse, cell: ({ lastUsedAt }) => <Time of={lastUsedAt} age /> },
  {
    ...{ id: "actions", header: texts.common.actions, hideHeader: true, isNumber: true },
    cell: (session) => !session.current && <EndButton session={session} />,
  },
];

function EndButton({ session: { id, userAgent } }: { session: StaffSession }) {
  const send = useSend("DELETE /session/all/:id");
  const toast = useToast();
  const end = () =>
    send.mutateAsync({ id }).then(
      () => toast(t.ended),
      (error: Error) => toast(error.message),
    );
  const device = useMemo(() => deviceOf(userAgent), [userAgent]);
  return (
    <Button kind="quiet" busy={send.isPending} aria-label={t.endOf(device)} onClick={() => void end()}>
      {t.end}
    </Button>
  );
}

/** Each names itself after those that it is like: the first that fits is the one. */
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
