import { useState } from "react";
import { Link } from "wouter";
import { useApi, usePages, useSend } from "../../api/hooks.ts";
import { useInCurrency, useMay, useMe } from "../../api/session.tsx";
import type { Partner as PartnerData, ShownPartner } from "../../api/staff-api.d.ts";
import { Button } from "../../components/button.tsx";
import { TextArea, TextInput } from "../../components/controls.tsx";
import { ActionDialog } from "../../components/dialog.tsx";
import { Amount, Card, Code, Fact, KeyValue } from "../../components/display.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { Field, type FormValues } from "../../components/form.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { Loaded, Note } from "../../components/states.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { countOf, formatCount, formatMoney } from "../../format.ts";
import { listHref } from "../../links.ts";
import type { PageProps } from "../../page-props.ts";
import { texts } from "../../texts/index.ts";
import { RefusedCalls } from "../customers/refused-calls.tsx";
import { PartnerWebhook } from "../targets/deliveries.tsx";
import { Account } from "./account.tsx";
import { Details } from "./details.tsx";
import { PartnerMonth } from "./month.tsx";
import { Practice } from "./practice.tsx";
import { Tokens } from "./tokens.tsx";

const t = texts.partners;

export default function Partner({ params: { name = "" } }: PageProps) {
  const partner = useApi("GET /partners/:name", { name, environment: useEnvironment() });
  const mayChange = useMay("administer");
  return (
    <>
      <PageHead
        title={name}
        up={{ href: "/partners", title: texts.shell.pages.partners }}
        actions={mayChange && partner.data && <StatusButton partner={partner.data} />}
      />
      <Loaded of={partner}>
        {(found) => (
          <>
            {found.status === "suspended" && <Note tone="warning">{t.suspendedNote}</Note>}
            <RefusedToday partner={found} />
            <Tabs
              label={t.parts}
              tabs={[
                {
                  id: "access",
                  label: t.access,
                  content: (
                    <>
                      <Tokens partner={name} />
                      <PartnerWebhook name={name} />
                      <AllowedAddresses partner={found} />
                      <Limits partner={found} />
                      <Details partner={found} />
                    </>
                  ),
                },
                { id: "account", label: t.account, content: <Account partner={name} /> },
                { id: "month", label: t.month, content: <PartnerMonth name={name} /> },
                { id: "practice", label: t.practice, content: <Practice partner={name} /> },
                { id: "refused-calls", label: t.refusedCalls, content: <PartnerCalls name={name} /> },
              ]}
            />
          </>
        )}
      </Loaded>
    </>
  );
}

/** Top-ups that the balance or a limit refused today. */
function RefusedToday({ partner: { name, refusedToday } }: { partner: ShownPartner }) {
  const { currency } = useMe().provider;
  const { details, reasons } = texts.refusedCalls;
  return refusedToday.map(({ reason, limit, count, amount }) => (
    <Note key={`${reason} ${limit}`} tone="warning">
      {t.refusedSum(
        countOf(count, "top-up"),
        formatMoney(amount, currency),
        limit === null ? (reasons[reason] ?? reason) : details[limit],
      )}{" "}
      <Link href={listHref("/refused-calls", { partner: name, reason })}>{t.toRefusedCalls}</Link>
    </Note>
  ));
}

function StatusButton({ partner: { name, status } }: { partner: PartnerData }) {
  const [isOpen, setOpen] = useState(false);
  const send = useSend("PATCH /partners/:name");
  const isActive = status === "active";
  return (
    <>
      <Button onClick={() => setOpen(true)}>{isActive ? t.suspend : t.resume}</Button>
      {isOpen && (
        <ActionDialog
          title={isActive ? t.suspendTitle(name) : t.resumeTitle(name)}
          description={isActive ? t.suspendText : t.resumeText}
          submit={isActive ? t.suspendConfirm : t.resumeConfirm}
          danger={isActive}
          onSubmit={async () => {
            await send.mutateAsync({ name, status: isActive ? "suspended" : "active" });
            return { toast: isActive ? t.suspended(name) : t.resumed(name) };
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

function PartnerCalls({ name }: { name: string }) {
  const calls = usePages("GET /refused-calls", { environment: useEnvironment(), partner: name });
  return <RefusedCalls calls={calls} ofPartner />;
}

/** IP addresses that a partner may call from. */
function AllowedAddresses({ partner: { name, allowedAddresses } }: { partner: PartnerData }) {
  const [isOpen, setOpen] = useState(false);
  const mayChange = useMay("administer");
  const send = useSend("PATCH /partners/:name");

  const save = async (values: FormValues) => {
    const lines = values.text("allowedAddresses").split(/[\s,]+/);
    const given = lines.filter((line) => line !== "");
    await send.mutateAsync({ name, allowedAddresses: given.length === 0 ? null : given });
    return { toast: t.addressesDone(given.length) };
  };

  return (
    <Card
      title={t.addressesTitle}
      actions={mayChange && <Button onClick={() => setOpen(true)}>{t.addressesEdit}</Button>}
    >
      {allowedAddresses === null ? (
        <p>{t.anywhere}</p>
      ) : (
        <ul aria-label={t.addressesTitle}>
          {allowedAddresses.map((address) => (
            <li key={address}>
              <Code>{address}</Code>
            </li>
          ))}
        </ul>
      )}
      {isOpen && (
        <ActionDialog
          title={t.addressesTitle}
          description={t.addressesText}
          submit={t.addressesSave}
          onSubmit={save}
          onClose={() => setOpen(false)}
        >
          <Field name="allowedAddresses" label={t.addressesTitle} hint={t.addressesHint}>
            <TextArea rows={6} defaultValue={allowedAddresses?.join("\n")} spellCheck={false} />
          </Field>
        </ActionDialog>
      )}
    </Card>
  );
}

const LIMITS = ["rate", "burst", "newLookUps"] as const;
const AMOUNT_LIMITS = ["topUpAmount", "dayAmount"] as const;
/** Limits that a partner can be without. */
const SALE_LIMITS = ["dayTopUps", ...AMOUNT_LIMITS] as const;

/** Limits of the partner's calls, look-ups and top-ups. */
function Limits({ partner }: { partner: PartnerData }) {
  const [isOpen, setOpen] = useState(false);
  const mayChange = useMay("administer");
  const send = useSend("PATCH /partners/:name/limits");
  const inCurrency = useInCurrency();
  const nameOf = (limit: (typeof SALE_LIMITS)[number]) =>
    limit === "dayTopUps" ? t.limitNames[limit] : inCurrency(t.limitNames[limit]);
  return (
    <Card title={t.limits} actions={mayChange && <Button onClick={() => setOpen(true)}>{t.limitsEdit}</Button>}>
      <KeyValue>
        {LIMITS.map((limit) => (
          <Fact key={limit} label={t.limitNames[limit]} value={formatCount(partner[limit])} />
        ))}
        <Fact
          label={t.limitNames.dayTopUps}
          value={partner.dayTopUps === null ? t.noLimit : formatCount(partner.dayTopUps)}
        />
        {AMOUNT_LIMITS.map((limit) => (
          <Fact
            key={limit}
            label={t.limitNames[limit]}
            value={partner[limit] === null ? t.noLimit : <Amount of={partner[limit]} />}
          />
        ))}
      </KeyValue>
      {isOpen && (
        <ActionDialog
          title={t.limits}
          description={t.limitsText}
          submit={t.limitsSave}
          onSubmit={async (values) => {
            // Another admin may have changed the others.
            const isChanged = (limit: (typeof LIMITS | typeof SALE_LIMITS)[number]) =>
              values.text(limit) !== String(partner[limit] ?? "");
            const set = LIMITS.filter(isChanged).map((limit) => [limit, values.number(limit)]);
            const ofSales = SALE_LIMITS.filter(isChanged).map((limit) => [limit, values.optional(limit) ?? "none"]);
            await send.mutateAsync({ name: partner.name, ...Object.fromEntries([...set, ...ofSales]) });
            return { toast: t.limitsDone };
          }}
          onClose={() => setOpen(false)}
        >
          {LIMITS.map((limit) => (
            <Field key={limit} name={limit} label={t.limitNames[limit]}>
              <TextInput type="number" required min={1} max={1_000_000} defaultValue={partner[limit]} />
            </Field>
          ))}
          {SALE_LIMITS.map((limit) => (
            <Field key={limit} name={limit} label={nameOf(limit)}>
              <TextInput
                inputMode="decimal"
                maxLength={40}
                placeholder={t.noLimit}
                defaultValue={partner[limit] ?? ""}
              />
            </Field>
          ))}
        </ActionDialog>
      )}
    </Card>
  );
}
