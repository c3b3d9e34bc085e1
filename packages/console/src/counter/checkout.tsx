import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { ApiProblem } from "../api/problem.ts";
import { useMe } from "../api/session.tsx";
import { Button } from "../components/button.tsx";
import { Choice, TextInput } from "../components/controls.tsx";
import { Amount, Card, connectionName, Fact, KeyValue, Time } from "../components/display.tsx";
import { Field, Form, type FormValues } from "../components/form.tsx";
import { ErrorNote, Loading, Note } from "../components/states.tsx";
import { formatMoney } from "../format.ts";
import { texts } from "../texts/index.ts";
import { ask, type Input } from "./api.ts";
import type { Offer, SaleOutcome } from "./counter-api.d.ts";
import { Step } from "./picker.tsx";
import { Sold } from "./receipt.tsx";
import { sellOnce } from "./sending.ts";
import { counter as t } from "./texts.ts";

type Sale = Input<"POST /sales">;
type Method = Sale["method"];

interface CheckoutProps {
  readonly sale: Omit<Sale, "price" | "method" | "receiptNumber" | "again">;
  /** The offer of this checkoutId; undefined after a reload: then nobody knows whether it was sold. */
  readonly offer: Offer | undefined;
  readonly onOther: () => void;
  readonly onAgain: () => void;
}

/** One sale from its confirmation to its receipt. */
export function Checkout({ sale, offer, onOther, onAgain }: CheckoutProps) {
  const { checkoutId, cuid, service, reqId, bouquetId } = sale;
  const [ended, setEnded] = useState<SaleOutcome>();
  const asked = useQuery<SaleOutcome, ApiProblem>({
    queryKey: ["GET /offers/:checkoutId", { checkoutId }],
    queryFn: ({ signal }) => ask("GET /offers/:checkoutId", { checkoutId }, { signal }),
    enabled: offer === undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const outcome = ended ?? asked.data;
  const isOpen = outcome?.state === "open";
  const again = useOffer(offer === undefined && isOpen ? { cuid, service, reqId } : null);
  const known = offer ?? again.data;
  const bouquet = known?.bouquets.find((each) => each.bouquetId === bouquetId);
  const error = offer === undefined ? (asked.error ?? again.error) : null;

  if (outcome?.state === "sold" && outcome.receipt !== null) return <Sold receipt={outcome.receipt} onNext={onAgain} />;
  if (outcome?.state === "never") return <Ended onAgain={onAgain}>{t.never}</Ended>;
  if (error !== null) {
    return (
      <>
        <ErrorNote error={error} onRetry={() => void (asked.error === null ? again : asked).refetch()} />
        <BeginAgain onAgain={onAgain} />
      </>
    );
  }
  if (known === undefined) return <Loading />;
  if (bouquet === undefined) return <Ended onAgain={onAgain}>{t.gone}</Ended>;
  return <Confirm sale={sale} offer={known} bouquet={bouquet} onEnd={setEnded} onOther={onOther} onAgain={onAgain} />;
}

interface ConfirmProps extends Pick<CheckoutProps, "sale" | "onOther" | "onAgain"> {
  readonly offer: Offer;
  readonly bouquet: Offer["bouquets"][number];
  readonly onEnd: (outcome: SaleOutcome) => void;
}

/** An answer that takes longer is lost. */
const MOST_MS = 15_000;

function Confirm({ sale, offer, bouquet: { name, price, end }, onEnd, onOther, onAgain }: ConfirmProps) {
  const { currency } = useMe().provider;
  const { checkoutId } = sale;
  const [method, setMethod] = useState<Method>("cash");
  const [isLost, setLost] = useState(false);
  const [question, setQuestion] = useState<{ readonly words: string; readonly of: Sale }>();
  const isHere = useRef(true);
  useEffect(() => {
    isHere.current = true;
    return () => {
      isHere.current = false;
    };
  }, []);
  const client = useQueryClient();
  const { mutateAsync } = useMutation({
    // The other pages read again when they are opened.
    onSettled: () => client.invalidateQueries({ refetchType: "none" }),
    mutationFn: (whole: Sale) =>
      sellOnce({
        send: () => ask("POST /sales", whole, { signal: AbortSignal.timeout(MOST_MS) }),
        look: () => ask("GET /offers/:checkoutId", { checkoutId }, { signal: AbortSignal.timeout(MOST_MS) }),
        onLost: () => setLost(true),
        async wait(ms) {
          await new Promise((done) => setTimeout(done, ms));
          if (!isHere.current) throw new Error("the page was left");
        },
      }),
  });
  const send = async (whole: Sale) => {
    try {
      onEnd(await mutateAsync(whole));
    } catch (error) {
      setLost(false);
      if (!(error instanceof ApiProblem && error.problem.fields?.some(({ field }) => field === "again"))) throw error;
      setQuestion({ words: error.message, of: { ...whole, again: true } });
    }
  };
  const submit = (values: FormValues) =>
    send(question?.of ?? { ...sale, price, method, receiptNumber: values.optional("receiptNumber") });
  return (
    <Step key={question?.words} sells focus={question === undefined ? "button[type=submit]" : "[name=no]"}>
      <Card title={t.confirm}>
        <KeyValue>
          <Fact label={t.customer} value={`${offer.customer.name} ${offer.customer.cuid}`} />
          <Fact label={t.connection} value={connectionName(sale)} />
          <Fact label={t.bouquet} value={name} />
          <Fact label={t.price} value={<Amount of={price} />} />
          <Fact label={t.newEnd} value={<Time of={end} />} />
        </KeyValue>
        <Form
          submit={question === undefined ? t.sell(formatMoney(price, currency)) : texts.common.yes}
          onSubmit={submit}
          actions={
            question === undefined ? (
              <Button kind="quiet" onClick={onOther}>
                {t.otherBouquet}
              </Button>
            ) : (
              <Button name="no" onClick={onAgain}>
                {texts.common.no}
              </Button>
            )
          }
        >
          {question === undefined ? (
            <>
              <div className="field stack">
                <span className="field-label">{t.method}</span>
                <div>
                  <Choice label={t.method} value={method} options={METHODS} onChoose={setMethod} />
                </div>
              </div>
              <Field name="receiptNumber" label={t.receiptNumber}>
                <TextInput maxLength={30} autoCapitalize="none" enterKeyHint="done" />
              </Field>
            </>
          ) : (
            <Note tone="warning">
              <p>{question.words}</p>
            </Note>
          )}
          <p role="status" className="asking muted">
            {isLost && t.asking}
          </p>
        </Form>
      </Card>
      <BeginAgain onAgain={onAgain} />
    </Step>
  );
}

const METHODS = Object.entries(t.methods) as [Method, string][];

function Ended({ children, onAgain }: { children: ReactNode; onAgain: () => void }) {
  return (
    <Step focus="button">
      <Note tone="danger">
        <p>{children}</p>
      </Note>
      <BeginAgain onAgain={onAgain} />
    </Step>
  );
}

function BeginAgain({ onAgain }: { onAgain: () => void }) {
  return (
    <div className="row">
      <Button kind="quiet" onClick={onAgain}>
        {t.begin}
      </Button>
    </div>
  );
}

/** Bouquets with a new checkoutId, which no other visit of the page gets. A null connection asks nothing. */
export function useOffer(connection: Input<"POST /offers"> | null) {
  return useQuery<Offer, ApiProblem>({
    queryKey: ["POST /offers", connection],
    queryFn: () => ask("POST /offers", connection as Input<"POST /offers">),
    enabled: connection !== null,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
}
