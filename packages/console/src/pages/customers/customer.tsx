import { type Pages, useApi, usePages } from "../../api/hooks.ts";
import type { Customer as CustomerData, PlanLedger, RefusedCall } from "../../api/staff-api.d.ts";
import { LinkButton } from "../../components/button.tsx";
import { Badge, Card, connectionName, Time } from "../../components/display.tsx";
import { SwitchEnvironment, useEnvironment } from "../../components/environment.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { EmptyState, Loaded } from "../../components/states.tsx";
import type { PageProps } from "../../page-props.ts";
import { texts } from "../../texts/index.ts";
import { Connections } from "./connections.tsx";
import { LedgerHistory } from "./ledger-history.tsx";
import { Notes } from "./notes.tsx";
import { RefusedCalls } from "./refused-calls.tsx";

const t = texts.customers;

const REFUSED_CALLS = "refused-calls";

export default function Customer({ params: { cuid = "" } }: PageProps) {
  const environment = useEnvironment();
  const customer = useApi("GET /customers/:cuid", { environment, cuid });
  const ledgers = useApi("GET /customers/:cuid/ledgers", { environment, cuid });
  const calls = usePages("GET /customers/:cuid/refused-calls", { environment, cuid });
  const { data } = customer;
  const name = data === undefined ? "" : `${data.firstName} ${data.lastName}`.trim();
  const isGone = data === undefined && customer.error?.code === "not_found";
  return (
    <>
      <PageHead
        title={name || cuid}
        lead={data && <Profile customer={data} calls={calls} />}
        up={{ href: "/customers", title: texts.shell.pages.customers }}
        actions={<LinkButton href={`/transactions?cuid=${encodeURIComponent(cuid)}`}>{t.transactions}</LinkButton>}
      />
      {isGone ? (
        <NoSuchCustomer cuid={cuid} />
      ) : (
        <Loaded of={customer}>
          {(found) => (
            <>
              <Loaded of={ledgers}>{({ plans }) => <OfCustomer customer={found} ledgers={plans} />}</Loaded>
              <Notes customer={found} />
              <div id={REFUSED_CALLS} tabIndex={-1}>
                <Card title={texts.refusedCalls.list}>
                  <RefusedCalls calls={calls} />
                </Card>
              </div>
            </>
          )}
        </Loaded>
      )}
    </>
  );
}

/** The customer in one line. */
function Profile({ customer, calls }: { customer: CustomerData; calls: Pages<RefusedCall> }) {
  const { cuid, mobile, status, area, asOf } = customer;
  const [last] = calls.items;
  return (
    <>
      <span className="number">{cuid}</span>
      {mobile !== null && (
        <>
          {" · "}
          <a href={`tel:${mobile}`}>{mobile}</a>
        </>
      )}
      {area !== null && ` · ${area}`}
      {" · "}
      <Badge tone={status === "active" ? "success" : "danger"}>{t.statuses[status]}</Badge>
      {" · "}
      {t.asOf} <Time of={asOf} none={t.neverImported} />
      {last !== undefined && (
        <>
          {" · "}
          <a href={`#${REFUSED_CALLS}`}>
            {t.lastRefusedCall} <Time of={last.at} />
          </a>
        </>
      )}
    </>
  );
}

/** The connections, then those that were deleted. */
function OfCustomer({ customer, ledgers }: { customer: CustomerData; ledgers: readonly PlanLedger[] }) {
  const { cuid, connections } = customer;
  const names = new Set(connections.map(connectionName));
  const gone = ledgers.filter((ledger) => !names.has(connectionName(ledger)));
  return (
    <>
      {connections.length === 0 && <EmptyState title={t.noConnectionsTitle}>{t.noConnectionsText}</EmptyState>}
      {connections.length > 0 && <Connections {...{ cuid, connections, ledgers }} />}
      {gone.length > 0 && <GoneConnections ledgers={gone} />}
    </>
  );
}

/** History of connections that are no longer in the provider's records. */
function GoneConnections({ ledgers }: { ledgers: readonly PlanLedger[] }) {
  return (
    <Card title={t.gone}>
      <p className="muted">{t.goneConnectionText}</p>
      {ledgers.map((ledger) => (
        <LedgerHistory
          key={`${ledger.service} ${ledger.reqId} ${ledger.plan}`}
          ledger={ledger}
          title={`${connectionName(ledger)} · ${ledger.plan}`}
        />
      ))}
    </Card>
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
