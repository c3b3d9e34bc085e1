import { type Pages, useApi, usePages } from "../../api/hooks.ts";
import { useMe } from "../../api/session.tsx";
import type { Attempt, Connection, Customer as CustomerData, PlanLedger } from "../../api/staff-api.d.ts";
import { LinkButton } from "../../components/button.tsx";
import { Badge, Card, KeyValue, Time } from "../../components/display.tsx";
import { EmptyState, Loaded } from "../../components/states.tsx";
import { wallNow } from "../../format.ts";
import type { PageProps } from "../../routes.ts";
import { SwitchEnvironment, useEnvironment } from "../../shell/environment.tsx";
import { PageHead } from "../../shell/page-head.tsx";
import { texts } from "../../texts/index.ts";
import { REFUSED_CALLS_ID, RefusedCalls } from "./attempts.tsx";
import { connectionName } from "./connection-badge.tsx";
import { ConnectionCard } from "./connection-card.tsx";
import { GoneConnections } from "./gone-connections.tsx";
import { spansOf } from "./ledger-words.ts";

const t = texts.customers;

export default function Customer({ params: { cuid = "" } }: PageProps) {
  const environment = useEnvironment();
  const customer = useApi("GET /customers/:cuid", { environment, cuid });
  const ledgers = useApi("GET /customers/:cuid/ledgers", { environment, cuid });
  const attempts = usePages("GET /customers/:cuid/refused-calls", { environment, cuid });
  const { data } = customer;
  const name = data === undefined ? "" : `${data.firstName} ${data.lastName}`.trim();
  const isGone = data === undefined && customer.error?.code === "not_found";
  return (
    <>
      <PageHead
        title={name || cuid}
        up={{ href: "/customers", title: texts.shell.pages.customers }}
        actions={<LinkButton href={`/transactions?cuid=${encodeURIComponent(cuid)}`}>{t.transactions}</LinkButton>}
      />
      {isGone ? (
        <NoSuchCustomer cuid={cuid} />
      ) : (
        <Loaded of={customer}>
          {(found) => (
            <>
              <Profile customer={found} attempts={attempts} />
              <Loaded of={ledgers}>{({ plans }) => <Connections customer={found} ledgers={plans} />}</Loaded>
              <RefusedCalls attempts={attempts} />
            </>
          )}
        </Loaded>
      )}
    </>
  );
}

function Profile({ customer, attempts }: { customer: CustomerData; attempts: Pages<Attempt> }) {
  const { cuid, mobile, status, asOf } = customer;
  const [last] = attempts.items;
  return (
    <Card>
      <KeyValue
        items={[
          [
            t.cuid,
            <span key="cuid" className="number">
              {cuid}
            </span>,
          ],
          [
            t.mobile,
            mobile === null ? null : (
              <a key="mobile" href={`tel:${mobile}`}>
                {mobile}
              </a>
            ),
          ],
          [
            t.status,
            <Badge key="status" tone={status === "active" ? "success" : "danger"}>
              {t.statuses[status]}
            </Badge>,
          ],
          [
            t.lastAttempt,
            last === undefined ? (
              ((attempts.first && texts.common.none) ?? null)
            ) : (
              <a key="attempts" href={`#${REFUSED_CALLS_ID}`}>
                <Time of={last.at} />
              </a>
            ),
          ],
          [t.asOf, asOf === null ? t.neverImported : <Time key="asOf" of={asOf} />],
        ]}
      />
    </Card>
  );
}

/** A card for each connection, and one for deleted connections. */
function Connections({ customer, ledgers }: { customer: CustomerData; ledgers: readonly PlanLedger[] }) {
  const { timeZone } = useMe().provider;
  const { cuid, connections } = customer;
  const now = wallNow(timeZone);
  const isOf = (ledger: PlanLedger, { service, reqId }: Connection) =>
    ledger.service === service && ledger.reqId === reqId;
  const gone = ledgers.filter((ledger) => !connections.some((connection) => isOf(ledger, connection)));
  const each = connections.map((connection) => {
    const its = ledgers.filter((ledger) => isOf(ledger, connection));
    return { connection, ledgers: its, spans: spansOf(connection, its, now) };
  });
  const allSpans = each.flatMap(({ spans }) => spans);
  return (
    <>
      {connections.length === 0 && <EmptyState title={t.noConnectionsTitle}>{t.noConnectionsText}</EmptyState>}
      {each.map((props) => (
        <ConnectionCard key={connectionName(props.connection)} cuid={cuid} allSpans={allSpans} {...props} />
      ))}
      {gone.length > 0 && <GoneConnections ledgers={gone} />}
    </>
  );
}

function NoSuchCustomer({ cuid }: { cuid: string }) {
  const environment = useEnvironment();
  return (
    <EmptyState
      title={t.goneTitle(cuid, texts.common.environments[environment])}
      action={
        <span className="row">
          <SwitchEnvironment to={environment === "trial" ? "production" : "trial"} />
          <LinkButton href="/customers">{t.toSearch}</LinkButton>
        </span>
      }
    >
      {t.goneText}
    </EmptyState>
  );
}
