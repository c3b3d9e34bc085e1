import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import { ApiProblem } from "../api/problem.ts";
import { Button } from "../components/button.tsx";
import { TextInput } from "../components/controls.tsx";
import { Amount, Badge, Card, connectionName, Time } from "../components/display.tsx";
import { Field, Form } from "../components/form.tsx";
import { PageHead } from "../components/page-head.tsx";
import { Loaded, Note } from "../components/states.tsx";
import { listHref } from "../links.ts";
import { ask, type Input } from "./api.ts";
import { Checkout, useOffer } from "./checkout.tsx";
import type { Buyer, FoundCustomer, Offer, SoldConnection } from "./counter-api.d.ts";
import { Picker, Step } from "./picker.tsx";
import { counter as t } from "./texts.ts";

type ConnectionName = Input<"POST /offers">;

/**
 * The sale of one bouquet: find the customer, choose the connection, choose the bouquet, confirm. The address names what
 * is chosen, so that a reload sells nothing twice.
 */
export function Sell() {
  const [, navigate] = useLocation();
  const [search] = useSearchParams();
  const textOf = (name: string) => search.get(name) ?? "";
  const [checkoutId, bouquetId] = [textOf("checkoutId"), textOf("bouquet")];
  const connection = { cuid: textOf("cuid"), service: textOf("service"), reqId: textOf("reqId") } as ConnectionName;
  /** The offer from which the bouquet was chosen; a reload forgets it. */
  const [offer, setOffer] = useState<Offer>();
  const choose = (chosen: Offer, bouquet: string) => {
    setOffer(chosen);
    navigate(listHref("/", { ...connection, checkoutId: chosen.checkoutId, bouquet }), { replace: true });
  };
  const content =
    checkoutId !== "" ? (
      <Checkout
        key={checkoutId}
        sale={{ ...connection, checkoutId, bouquetId }}
        offer={offer?.checkoutId === checkoutId ? offer : undefined}
        onOther={() => navigate(listHref("/", { ...connection }), { replace: true })}
        onAgain={() => navigate("/")}
      />
    ) : connection.cuid !== "" ? (
      <ChooseBouquet connection={connection} onChoose={choose} onAgain={() => navigate("/")} />
    ) : (
      <FindCustomer onChoose={(chosen) => navigate(listHref("/", { ...chosen }))} />
    );
  return (
    <>
      <PageHead title={t.pages.sell} />
      {content}
    </>
  );
}

function FindCustomer({ onChoose }: { onChoose: (connection: ConnectionName) => void }) {
  const [found, setFound] = useState<FoundCustomer>();
  const find = useMutation({ mutationFn: (code: string) => ask("GET /customers", { code }) });
  const nameOf = ({ customer }: FoundCustomer, { service, reqId }: SoldConnection) => {
    return { cuid: customer.cuid, service, reqId };
  };
  const submit = async (code: string) => {
    setFound(undefined);
    const answer = await find.mutateAsync(code).catch((error: unknown) => {
      // A problem at the field keeps the focus there, for the next try.
      throw error instanceof ApiProblem ? ApiProblem.ofField("code", error.message) : error;
    });
    const [only, ...others] = answer.connections;
    if (only?.problem === null && others.length === 0) onChoose(nameOf(answer, only));
    else setFound(answer);
  };
  return (
    <>
      <Step focus="input">
        <Card>
          <Form submit={t.find} onSubmit={(values) => submit(values.text("code"))}>
            <Field name="code" label={t.code} hint={t.codeHint}>
              <TextInput required maxLength={64} autoCapitalize="none" enterKeyHint="search" />
            </Field>
          </Form>
        </Card>
      </Step>
      {found !== undefined && (
        <Step key={found.customer.cuid} focus="button, .note">
          <BuyerLine customer={found.customer} />
          {found.connections.length === 0 && <Note tone="danger">{t.noConnections}</Note>}
          <Picker
            label={t.connections}
            picks={found.connections.map((connection) => ({
              key: connectionName(connection),
              content: <ConnectionLines of={connection} />,
              onPick: connection.problem === null ? () => onChoose(nameOf(found, connection)) : undefined,
            }))}
          />
        </Step>
      )}
    </>
  );
}

function ChooseBouquet({ connection, onChoose, onAgain }: ChooseBouquetProps) {
  const offer = useOffer(connection);
  return (
    <>
      <Loaded of={offer}>
        {(found) => (
          <Step focus="button, .note">
            <BuyerLine customer={found.customer} />
            <div className="chosen">
              <ConnectionLines of={found.connection} />
            </div>
            {found.bouquets.length === 0 && <Note tone="danger">{t.noBouquets}</Note>}
            <Picker
              label={t.bouquets}
              picks={found.bouquets.map(({ bouquetId, name, price, addOn, end }) => ({
                key: bouquetId,
                content: (
                  <>
                    <span className="row strong">
                      {name} {addOn && <Badge>{t.addOn}</Badge>}
                    </span>
                    <span className="strong">
                      <Amount of={price} />
                    </span>
                    <span className="muted">
                      {t.until} <Time of={end} />
                    </span>
                  </>
                ),
                onPick: () => onChoose(found, bouquetId),
              }))}
            />
          </Step>
        )}
      </Loaded>
      <div className="row">
        <Button kind="quiet" onClick={onAgain}>
          {t.begin}
        </Button>
      </div>
    </>
  );
}

interface ChooseBouquetProps {
  readonly connection: ConnectionName;
  readonly onChoose: (offer: Offer, bouquetId: string) => void;
  readonly onAgain: () => void;
}

function BuyerLine({ customer: { name, cuid } }: { customer: Buyer }) {
  return (
    <h2>
      {name} <span className="number muted">{cuid}</span>
    </h2>
  );
}

function ConnectionLines({ of }: { of: SoldConnection }) {
  return (
    <>
      <span className="strong">{connectionName(of)}</span>
      {of.plans.length === 0 && <span className="muted">{t.nothingRuns}</span>}
      {of.plans.map(({ bouquetId, name, end, isRunning, from }) => (
        <span key={bouquetId} className="muted">
          {name},{" "}
          {from !== null && (
            <>
              {t.from} <Time of={from} />{" "}
            </>
          )}
          {isRunning ? t.until : t.ended} <Time of={end} />
        </span>
      ))}
      {of.problem !== null && <span className="field-error">{of.problem}</span>}
    </>
  );
}
