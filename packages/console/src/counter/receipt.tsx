import { useQuery } from "@tanstack/react-query";
import { Button } from "../components/button.tsx";
import { connectionName, unbroken } from "../components/display.tsx";
import { PageHead } from "../components/page-head.tsx";
import { Loaded, Result } from "../components/states.tsx";
import { formatAmount, formatMoney, minuteOf } from "../format.ts";
import { texts } from "../texts/index.ts";
import { ask, useApi } from "./api.ts";
import type { Receipt as ReceiptData } from "./counter-api.d.ts";
import { counter as t } from "./texts.ts";

/** The receipt of a sale that was just made, and how far the service is. */
export function Sold({ receipt, onNext }: { receipt: ReceiptData; onNext: () => void }) {
  const { data } = useServed(receipt);
  return (
    <Result>
      <h2 className="sold no-print">{t.sold}</h2>
      {data.chain !== null && (
        <p className="no-print" role="status">
          {data.chain.text}
        </p>
      )}
      <Receipt of={data} />
      <div className="row no-print">
        <PrintButton />
        <Button kind="primary" onClick={onNext}>
          {t.next}
        </Button>
      </div>
    </Result>
  );
}

const OPEN_STEPS: readonly string[] = ["not_sent", "failing", "waits"];
const EVERY_MS = 2_000;
/** Asks for up to a minute. */
const MOST_TIMES = 30;

/** Reads the receipt again while the chain of the service goes on. */
function useServed(receipt: ReceiptData) {
  const { txnId } = receipt;
  return useQuery({
    queryKey: ["GET /sales/:txnId/receipt", { txnId }],
    queryFn: ({ signal }) => ask("GET /sales/:txnId/receipt", { txnId }, { signal, isPoll: true }),
    initialData: receipt,
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: ({ state: { data, dataUpdateCount } }) => {
      const isOpen = data?.chain?.steps.some(({ state }) => OPEN_STEPS.includes(state)) === true;
      return isOpen && dataUpdateCount < MOST_TIMES && EVERY_MS;
    },
  });
}

export function ReceiptPage({ txnId }: { txnId: string }) {
  const receipt = useApi("GET /sales/:txnId/receipt", { txnId });
  return (
    <>
      <PageHead title={t.pages.receipt} up={{ href: "/sales", title: t.pages.sales }} actions={<PrintButton />} />
      <Loaded of={receipt}>{(found) => <Receipt of={found} />}</Loaded>
    </>
  );
}

/** The receipt on paper of 80 mm, on the screen as wide. */
export function Receipt({ of }: { of: ReceiptData }) {
  const { provider, partner, customer, method, currency, price, base, taxes } = of;
  const seller = [partner.legalName ?? partner.name, partner.address, partner.taxNumber, partner.contact];
  const lines = [
    [t.number, of.number === of.txnId ? null : of.number],
    [t.time, minuteOf(of.time)],
    [t.customer, `${customer.name} ${customer.cuid}`.trim()],
    [t.connection, connectionName(of)],
    [t.bouquet, of.bouquet],
    [t.method, method && t.methods[method]],
    [t.seller, of.seller],
    [t.txnId, of.txnId],
  ] as const;
  return (
    <article className="receipt" aria-label={t.pages.receipt}>
      <header>
        <Lines of={[provider.name, provider.address, provider.number, provider.tax]} />
        <Lines of={seller} />
      </header>
      {of.environment === "trial" && <p className="mark">{t.trial}</p>}
      {of.status === "reversed" && <p className="mark">{t.reversed}</p>}
      <dl>
        {lines.map(
          ([label, value]) =>
            value !== null && (
              <div key={label}>
                <dt>{label}</dt>
                <dd>{value}</dd>
              </div>
            ),
        )}
      </dl>
      <dl className="sums">
        {taxes.length > 0 &&
          [{ name: t.base, amount: base }, ...taxes].map(({ name, amount }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{formatAmount(amount)}</dd>
            </div>
          ))}
        <div className="total">
          <dt>{t.price}</dt>
          <dd>{formatMoney(price, currency)}</dd>
        </div>
      </dl>
      {of.why !== null && <p>{unbroken(of.why)}</p>}
    </article>
  );
}

/** The first line in bold. */
function Lines({ of }: { of: readonly (string | null)[] }) {
  return <div>{of.map((line) => line !== null && <p key={line}>{line}</p>)}</div>;
}

/** Paper from a roll is as long as the receipt: a style sheet of the page cannot say that. */
const PAPER = new CSSStyleSheet();
document.adoptedStyleSheets.push(PAPER);

function print(): void {
  const { height = 0 } = document.querySelector(".receipt")?.getBoundingClientRect() ?? {};
  PAPER.replaceSync(`@page { size: 80mm ${height}px }`);
  window.print();
}

function PrintButton() {
  return <Button onClick={print}>{texts.common.print}</Button>;
}
