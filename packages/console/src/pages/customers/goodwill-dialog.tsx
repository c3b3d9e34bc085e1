import { useState } from "react";
import type { Connection } from "../../api/staff-api.d.ts";
import { useCorrection } from "../../api/use-correction.ts";
import { Select } from "../../components/controls.tsx";
import { ConfirmDialog } from "../../components/dialog.tsx";
import { RunChange } from "../../components/display.tsx";
import { Field } from "../../components/form.tsx";
import { Previewed } from "../../components/previewed.tsx";
import { countOf } from "../../format.ts";
import { useEnvironment } from "../../shell/environment.tsx";
import { useToast } from "../../shell/toasts.tsx";
import { texts } from "../../texts/index.ts";
import { connectionName } from "./connection-badge.tsx";
import { DaysField, readDays } from "./days-field.tsx";
import { minuteOf } from "./ledger-words.ts";

const t = texts.customers;

interface GoodwillDialogProps {
  readonly cuid: string;
  readonly connection: Connection;
  /** Those of the connection. */
  readonly plans: readonly string[];
  readonly onClose: () => void;
}

/** Gives a subscription days for nothing: the end is shown before, and moves with the days that are entered. */
export function GoodwillDialog({ cuid, connection, plans, onClose }: GoodwillDialogProps) {
  const { service, reqId, subscriptions } = connection;
  const environment = useEnvironment();
  const toast = useToast();
  const [days, setDays] = useState("1");
  const [plan, setPlan] = useState(subscriptions.find(({ addOn }) => !addOn)?.plan ?? plans[0] ?? "");
  const count = readDays(days);
  const goodwill = useCorrection(
    "POST /customers/:cuid/goodwill",
    count === undefined ? null : { environment, cuid, service, reqId, plan, days: count },
  );
  const name = connectionName(connection);
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={t.of(t.giveDays, name)}
      description={t.giveDaysText}
      confirm={count === undefined ? t.giveDays : t.giveConfirm(countOf(count, "day"))}
      reason
      disabled={!goodwill.isReady}
      onConfirm={async (reason) => {
        const { after } = await goodwill.commit(reason);
        toast(t.given(name, minuteOf(after?.end ?? "")));
      }}
    >
      {plans.length > 1 && (
        <Field name="plan" label={t.plan}>
          <Select
            options={plans.map((each) => [each, each] as const)}
            value={plan}
            onChange={({ target }) => setPlan(target.value)}
          />
        </Field>
      )}
      <DaysField days={days} onChange={setDays} />
      {count !== undefined && (
        <Previewed of={goodwill}>{({ before, after }) => <RunChange before={before} after={after} />}</Previewed>
      )}
    </ConfirmDialog>
  );
}
