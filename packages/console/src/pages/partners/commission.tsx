import { useState } from "react";
import { useApi, useSend } from "../../api/hooks.ts";
import type { Service } from "../../api/request.ts";
import { useInCurrency, useMay } from "../../api/session.tsx";
import type { CommissionRule } from "../../api/staff-api.d.ts";
import { Button } from "../../components/button.tsx";
import { DayInput, Select, TextInput } from "../../components/controls.tsx";
import { type Column, LoadedTable } from "../../components/data-table.tsx";
import { ActionDialog } from "../../components/dialog.tsx";
import { Amount, Card, Code } from "../../components/display.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { Field } from "../../components/form.tsx";
import { EmptyState } from "../../components/states.tsx";
import { texts } from "../../texts/index.ts";

const t = texts.partnerAccounts;

/** The commission rules of a partner, in both environments. */
export function Commission({ partner }: { partner: string }) {
  const rules = useApi("GET /partners/:name/commission", { name: partner });
  const mayChange = useMay("administer");
  const [isAdding, setAdding] = useState(false);
  return (
    <Card title={t.commission} actions={mayChange && <Button onClick={() => setAdding(true)}>{t.addRule}</Button>}>
      <LoadedTable
        label={t.commission}
        list={rules}
        columns={COLUMNS}
        rowKey={({ from, service, bouquetId }) => [from, service, bouquetId].join(" ")}
        empty={<EmptyState title={t.noRules}>{t.noRulesHint}</EmptyState>}
      />
      {isAdding && <AddRule partner={partner} onClose={() => setAdding(false)} />}
    </Card>
  );
}

const COLUMNS: readonly Column<CommissionRule>[] = [
  { header: t.from, cell: ({ from }) => <span className="number">{from}</span> },
  { header: t.service, cell: ({ service }) => (service === null ? texts.common.any : texts.common.services[service]) },
  {
    header: t.bouquet,
    cell: ({ bouquetId }) => (bouquetId === null ? texts.common.any : <Code>{bouquetId}</Code>),
  },
  {
    header: t.commission,
    cell: ({ percent, fixed }) => (percent === null ? <Amount of={fixed} /> : `${percent} %`),
    isNumber: true,
  },
];

type Rate = "percent" | "fixed";

function AddRule({ partner, onClose }: { partner: string; onClose: () => void }) {
  const [rate, setRate] = useState<Rate>("percent");
  const [service, setService] = useState("");
  const { data } = useApi("GET /catalogue", { environment: useEnvironment() });
  const bouquets = (data?.bouquets ?? []).filter((each) => each.service === service);
  const inCurrency = useInCurrency();
  const send = useSend("PUT /partners/:name/commission");
  return (
    <ActionDialog
      title={t.addRule}
      description={t.addRuleText}
      submit={t.addRule}
      onSubmit={async (values) => {
        const scope = { service: (service || undefined) as Service | undefined, bouquet: values.optional("bouquet") };
        const input = { name: partner, [rate]: values.text(rate), ...scope, from: values.optional("from") };
        await send.mutateAsync(input);
        return { toast: t.ruleAdded };
      }}
      onClose={onClose}
    >
      <Field name="rate" label={t.rate}>
        <Select
          options={Object.entries(t.rates)}
          value={rate}
          onChange={({ target }) => setRate(target.value as Rate)}
        />
      </Field>
      <Field key={rate} name={rate} label={rate === "percent" ? t.percent : inCurrency(t.fixed)}>
        <TextInput required inputMode="decimal" maxLength={40} />
      </Field>
      <Field name="service" label={t.service}>
        <Select
          options={Object.entries(texts.common.services)}
          any={texts.common.any}
          value={service}
          onChange={({ target }) => setService(target.value)}
        />
      </Field>
      {service !== "" && (
        <Field key={service} name="bouquet" label={t.bouquet}>
          <Select options={bouquets.map(({ code, name }) => [code, `${name} (${code})`])} any={texts.common.any} />
        </Field>
      )}
      <Field name="from" label={t.from} hint={t.fromHint}>
        <DayInput />
      </Field>
    </ActionDialog>
  );
}
