import { useMe } from "../api/session.tsx";
import { connectionName, unbroken } from "../components/display.tsx";
import { formatMoney } from "../format.ts";
import type { Receipt as ReceiptData } from "./counter-api.d.ts";
import { texts } from "./texts.ts";

const t = texts.receipt;

/** A receipt for paper of 80 mm. All of it comes from the server. */
export function Receipt({ of }: { of: ReceiptData }) {
  const { provider, partner, currency, taxes, customer, method } = of;
  const money = (amount: string) => formatMoney(amount, currency);
  const shop = partner.legalName ?? partner.name;
  return (
    <article className="receipt" aria-label={t.title}>
      <header>
        {[provider.name, provider.address, provider.number, provider.tax].map(
          (line, index) =>
            line !== null && (
              <p key={line} className={index === 0 ? "strong" : undefined}>
                {line}
              </p>
            ),
        )}
        <p className="strong">{shop}</p>
        {[partner.address, partner.taxNumber, partner.contact].map((line) => line !== null && <p key={line}>{line}</p>)}
      </header>
      {of.environment === "trial" && <p className="receipt-mark">{t.trial}</p>}
      {of.status === "reversed" && <p className="receipt-mark">{t.reversed}</p>}
      <dl>
        {of.number !== of.txnId && <Line label={t.number} value={of.number} />}
        <Line label={t.time} value={of.time} />
        <Line label={t.customer} value={`${customer.name} ${customer.cuid}`} />
        <Line label={t.connection} value={connectionName(of)} />
        <Line label={t.bouquet} value={of.bouquet} />
      </dl>
      <dl className="receipt-sum">
        {taxes.length > 0 && <Line label={t.base} value={money(of.base)} />}
        {taxes.map(({ name, amount }) => (
          <Line key={name} label={name} value={money(amount)} />
        ))}
        <Line label={t.price} value={money(of.price)} strong />
      </dl>
      {of.why !== null && <p>{unbroken(of.why)}</p>}
      <dl>
        {method !== null && <Line label={t.method} value={texts.sell.methods[method]} />}
        {of.seller !== null && <Line label={t.seller} value={of.seller} />}
        <Line label={t.transaction} value={of.txnId} />
      </dl>
    </article>
  );
}

function Line({ label, value, strong = false }: { label: string; value: string; strong?: boolean }) {
  return (
    <div className={strong ? "strong" : undefined}>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** The price of something, in the provider's currency. */
export function useMoney(): (amount: string) => string {
  const { currency } = useMe().provider;
  return (amount) => formatMoney(amount, currency);
}
