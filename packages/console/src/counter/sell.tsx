import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { ApiProblem } from "../api/problem.ts";
import { Button } from "../components/button.tsx";
import { Choice, TextInput } from "../components/controls.tsx";
import { Badge, Card, connectionName, Fact, KeyValue } from "../components/display.tsx";
import { Field, Form, type FormValues } from "../components/form.tsx";
import { PageHead } from "../components/page-head.tsx";
import { ErrorNote, Loading, Note } from "../components/states.tsx";
import { minuteOf } from "../format.ts";
import { askCounter, useCounter } from "./api.ts";
import type { FoundCustomer, Offer, Receipt as ReceiptData, SoldConnection } from "./counter-api.d.ts";
import { Receipt, useMoney } from "./receipt.tsx";
import { texts } from "./texts.ts";

const t = texts.sell;

/** The sale of this page, in its address: a reload asks what became of it, and sells nothing twice. */
interface Begun {
  readonly checkoutId: string;
  readonly cuid: string;
  readonly service: SoldConnection["service"];
  readonly reqId: string;
}

const FIELDS = ["checkoutId", "cuid", "service", "reqId"] as const;

function readBegun(): Begun | undefined {
  const search = new URLSearchParams(location.search);
  const begun = Object.fromEntries(FIELDS.map((name) => [name, search.get(name) ?? ""])) as unknown as Begun;
  return FIELDS.every((name) => begun[name] !== "") ? begun : undefined;
}

function writeBegun(begun: Begun | undefined): void {
  const search = begun === undefined ? "" : `?${new URLSearchParams({ ...begun })}`;
  history.replaceState(null, "", location.pathname + search);
}

type Step =
  | { readonly at: "find" }
  | { readonly at: "connection"; readonly found: FoundCustomer }
  | { readonly at: "offer"; readonly begun: Begun; readonly offer: Offer }
  | { readonly at: "reading"; readonly begun: Begun }
  | { readonly at: "never" }
  | { readonly at: "sold"; readonly receipt: ReceiptData };

/** Sells: a number, a connection, a bouquet, and the confirmation. */
export function Sell() {
  const [step, setStep] = useState<Step>(() => {
    const begun = readBegun();
    return begun === undefined ? { at: "find" } : { at: "reading", begun };
  });
  const [failure, setFailure] = useState<unknown>();
  const startAgain = () => {
    writeBegun(undefined);
    setFailure(undefined);
    setStep({ at: "find" });
  };
  const offerFor = async (cuid: string, { service, reqId }: Pick<SoldConnection, "service" | "reqId">) => {
    setFailure(undefined);
    try {
      const offer = await askCounter("POST /offers", { cuid, service, reqId });
      const begun = { checkoutId: offer.checkoutId, cuid, service, reqId };
      writeBegun(begun);
      setStep({ at: "offer", begun, offer });
    } catch (error) {
      setFailure(error);
    }
  };
  const find = async (values: FormValues) => {
    const found = await askCounter("GET /customers", { code: values.text("code") });
    const sellable = found.connections.filter(({ problem }) => problem === null);
    const [only] = sellable;
    if (only !== undefined && sellable.length === 1) await offerFor(found.customer.cuid, only);
    else setStep({ at: "connection", found });
  };
  return (
    <>
      <PageHead title={step.at === "sold" ? t.sold : texts.pages.sell} />
      {failure !== undefined && <ErrorNote error={failure} />}
      {step.at === "find" && (
        <Card>
          <Form submit={t.find} onSubmit={find}>
            <Field name="code" label={t.lead}>
              <TextInput required autoFocus autoComplete="off" autoCapitalize="none" className="counter-number" />
            </Field>
          </Form>
        </Card>
      )}
      {step.at === "connection" && <Connections found={step.found} onChoose={offerFor} onBack={startAgain} />}
      {step.at === "offer" && (
        <Offered
          begun={step.begun}
          offer={step.offer}
          onBack={startAgain}
          onSold={(receipt) => setStep({ at: "sold", receipt })}
          onNever={() => setStep({ at: "never" })}
        />
      )}
      {step.at === "reading" && <Reading begun={step.begun} onStep={setStep} onBack={startAgain} />}
      {step.at === "never" && (
        <>
          <Note tone="warning">{t.never_sold}</Note>
          <Button kind="primary" onClick={startAgain}>
            {t.startAgain}
          </Button>
        </>
      )}
      {step.at === "sold" && <Sold receipt={step.receipt} onNext={startAgain} />}
    </>
  );
}

/** Shows the sale of the address after a reload. */
function Reading({ begun, onStep, onBack }: { begun: Begun; onStep: (step: Step) => void; onBack: () => void }) {
  const [failure, setFailure] = useState<unknown>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: it reads once
  useEffect(() => {
    const read = async () => {
      const { state, receipt } = await askCounter("GET /offers/:checkoutId", { checkoutId: begun.checkoutId });
      if (receipt !== null) return onStep({ at: "sold", receipt });
      if (state === "never") return onStep({ at: "never" });
      const { cuid, service, reqId } = begun;
      onStep({ at: "offer", begun, offer: await askCounter("POST /offers", { cuid, service, reqId }) });
    };
    read().catch(setFailure);
  }, []);
  if (failure === undefined) return <Loading />;
  return (
    <>
      <ErrorNote error={failure} />
      <Button onClick={onBack}>{t.startAgain}</Button>
    </>
  );
}

interface ConnectionsProps {
  readonly found: FoundCustomer;
  readonly onChoose: (cuid: string, connection: SoldConnection) => Promise<void>;
  readonly onBack: () => void;
}

function Connections({ found: { customer, connections }, onChoose, onBack }: ConnectionsProps) {
  const isAny = connections.some(({ problem }) => problem === null);
  return (
    <Card title={`${customer.name} ${customer.cuid}`}>
      <p>{isAny ? t.chooseConnection : connections.length === 0 ? t.noConnection : t.nothing}</p>
      <Choices
        options={connections.map((connection) => ({
          key: connectionName(connection),
          onChoose: () => void onChoose(customer.cuid, connection),
          isOff: connection.problem !== null,
          content: (
            <>
              <span className="strong">{connectionName(connection)}</span>
              <span className="muted">{connection.problem ?? plansText(connection)}</span>
            </>
          ),
        }))}
      />
      <Button onClick={onBack}>{t.other}</Button>
    </Card>
  );
}

function plansText({ plans }: SoldConnection): string {
  if (plans.length === 0) return t.never;
  return plans
    .map(({ name, end, isRunning }) => (isRunning ? t.runs(name, minuteOf(end)) : t.ended(name, minuteOf(end))))
    .join("; ");
}

interface Option {
  readonly key: string;
  readonly content: ReactNode;
  readonly isOff?: boolean;
  readonly onChoose: () => void;
}

/** Large buttons. The first has the focus; the arrow keys move it. */
function Choices({ options }: { options: readonly Option[] }) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => list.current?.querySelector<HTMLElement>("button:enabled")?.focus(), []);
  const walk = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const buttons = [...(list.current?.querySelectorAll<HTMLElement>("button:enabled") ?? [])];
    if (by === undefined) return;
    event.preventDefault();
    buttons[buttons.indexOf(document.activeElement as HTMLElement) + by]?.focus();
  };
  return (
    <ul ref={list} className="options" onKeyDown={walk}>
      {options.map(({ key, content, isOff = false, onChoose }) => (
        <li key={key}>
          <button type="button" className="option" disabled={isOff} onClick={onChoose}>
            {content}
          </button>
        </li>
      ))}
    </ul>
  );
}

interface OfferedProps {
  readonly begun: Begun;
  readonly offer: Offer;
  readonly onBack: () => void;
  readonly onSold: (receipt: ReceiptData) => void;
  readonly onNever: () => void;
}

type Method = keyof typeof t.methods;
const METHODS = Object.entries(t.methods) as [Method, string][];

function Offered({ begun, offer, onBack, onSold, onNever }: OfferedProps) {
  const [bouquet, setBouquet] = useState<Offer["bouquets"][number]>();
  const money = useMoney();
  const title = `${offer.customer.name} ${offer.customer.cuid}`;
  if (bouquet !== undefined)
    return <Confirm {...{ begun, offer, bouquet, onSold, onNever }} onBack={() => setBouquet(undefined)} />;
  return (
    <Card title={title}>
      <p>
        <span className="strong">{connectionName(offer.connection)}</span> {plansText(offer.connection)}
      </p>
      <p>{offer.bouquets.length === 0 ? t.noBouquet : t.chooseBouquet}</p>
      <Choices
        options={offer.bouquets.map((each) => ({
          key: each.bouquetId,
          onChoose: () => setBouquet(each),
          content: (
            <>
              <span className="row">
                <span className="strong">{each.name}</span>
                {each.addOn && <Badge>{t.addOn}</Badge>}
              </span>
              <span className="option-price number">{money(each.price)}</span>
              <span className="muted">{t.until(minuteOf(each.end))}</span>
            </>
          ),
        }))}
      />
      <Button onClick={onBack}>{t.other}</Button>
    </Card>
  );
}

interface ConfirmProps extends OfferedProps {
  readonly bouquet: Offer["bouquets"][number];
}

function Confirm({ begun, offer, bouquet, onBack, onSold, onNever }: ConfirmProps) {
  const money = useMoney();
  const [method, setMethod] = useState<Method>("cash");
  const [isAsking, setAsking] = useState(false);
  const [again, setAgain] = useState<string>();
  const submit = async (values: FormValues) => {
    const sale = {
      ...begun,
      ...{
        bouquetId: bouquet.bouquetId,
        price: bouquet.price,
        method,
        receiptNumber: values.optional("receiptNumber"),
      },
      ...(again !== undefined && { again: true }),
    };
    try {
      const receipt = await sellSurely(sale, () => setAsking(true));
      if (receipt === undefined) onNever();
      else onSold(receipt);
    } catch (error) {
      const asks = error instanceof ApiProblem && error.problem.fields?.some(({ field }) => field === "again");
      if (!asks) throw error;
      setAgain((error as ApiProblem).message);
    } finally {
      setAsking(false);
    }
  };
  return (
    <Card title={t.check}>
      <Form
        submit={again === undefined ? t.submit : t.again}
        onSubmit={submit}
        actions={<Button onClick={onBack}>{t.back}</Button>}
      >
        <KeyValue>
          <Fact label={t.customer} value={`${offer.customer.name} ${offer.customer.cuid}`} />
          <Fact label={t.connection} value={connectionName(offer.connection)} />
          <Fact label={t.bouquet} value={bouquet.name} />
          <Fact label={t.newEnd} value={minuteOf(bouquet.end)} />
          <Fact label={t.price} value={<span className="counter-price number">{money(bouquet.price)}</span>} />
        </KeyValue>
        <Choice label={t.method} value={method} options={METHODS} onChoose={setMethod} />
        <Field name="receiptNumber" label={t.receiptNumber} hint={t.receiptNumberHint}>
          <TextInput maxLength={30} autoComplete="off" autoFocus />
        </Field>
        {again !== undefined && <Note tone="warning">{again}</Note>}
        {isAsking && <Note tone="warning">{t.asking}</Note>}
      </Form>
    </Card>
  );
}

const PAUSES_MS = [500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000, 8_000, 8_000, 8_000];

/**
 * Sells once. If the answer does not come, it asks what became of the sale, and sends the same sale again if nothing is
 * sold yet. @returns undefined if nothing was sold, and nothing will be. @throws ApiProblem
 */
async function sellSurely(
  sale: Parameters<typeof askCounter<"POST /sales">>[1],
  onAsking: () => void,
): Promise<ReceiptData | undefined> {
  for (const pause of PAUSES_MS) {
    try {
      return await askCounter("POST /sales", sale);
    } catch (error) {
      if (!(error instanceof ApiProblem && error.mayBeDone)) throw error;
    }
    onAsking();
    await new Promise((resolve) => setTimeout(resolve, pause));
    try {
      const { state, receipt } = await askCounter("GET /offers/:checkoutId", { checkoutId: sale.checkoutId });
      if (receipt !== null) return receipt;
      if (state === "never") return undefined;
    } catch (error) {
      if (!(error instanceof ApiProblem && error.mayBeDone)) throw error;
    }
  }
  throw new Error(t.noAnswer);
}

const CHAIN_SECONDS = 2;

function Sold({ receipt, onNext }: { receipt: ReceiptData; onNext: () => void }) {
  const { data = receipt } = useCounter("GET /sales/:txnId/receipt", { txnId: receipt.txnId }, CHAIN_SECONDS);
  return (
    <>
      {data.chain !== null && <Note tone={data.chain.isOff ? "danger" : "success"}>{data.chain.text}</Note>}
      <div className="row no-print">
        <Button kind="primary" autoFocus onClick={onNext}>
          {t.next}
        </Button>
        <Button onClick={() => window.print()}>{t.print}</Button>
      </div>
      <Receipt of={data} />
    </>
  );
}
