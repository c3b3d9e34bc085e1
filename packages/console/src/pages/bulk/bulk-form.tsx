import { useState } from "react";
import { useApi } from "../../api/hooks.ts";
import type { Input } from "../../api/request.ts";
import { FileInput, Select, TextArea, TextInput } from "../../components/controls.tsx";
import { Fact, Grid, KeyValue } from "../../components/display.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { Field, Form, type FormValues } from "../../components/form.tsx";
import { Loaded } from "../../components/states.tsx";
import { countOf, formatCount } from "../../format.ts";
import { texts } from "../../texts/index.ts";
import { DaysField } from "../customers/corrections.tsx";

const t = texts.bulk;

export type BulkRequest = Omit<Input<"POST /bulk">, "environment">;

type Target = keyof typeof t.targets;

interface BulkFormProps {
  readonly onPreview: (request: BulkRequest) => Promise<unknown>;
  readonly onChange: () => void;
}

/** Form of a bulk change: action, connections, reason. */
export function BulkForm({ onPreview, onChange }: BulkFormProps) {
  const [action, setAction] = useState<BulkRequest["action"]>("goodwill");
  const [target, setTarget] = useState<Target>("list");
  const [days, setDays] = useState("1");
  const isGoodwill = action === "goodwill";
  return (
    <Form submit={t.preview} onChange={onChange} onSubmit={(values) => onPreview(requestOf(values, action, target))}>
      <Left />
      <Grid>
        <Field name="action" label={t.action}>
          <Select
            options={Object.entries(t.listActions)}
            value={action}
            onChange={({ target: { value } }) => setAction(value as BulkRequest["action"])}
          />
        </Field>
        <Field name="target" label={t.target}>
          <Select
            options={Object.entries(t.targets)}
            value={target}
            onChange={({ target: { value } }) => setTarget(value as typeof target)}
          />
        </Field>
      </Grid>
      {target === "segment" && <SegmentField />}
      {target === "area" && <AreaField />}
      {(target === "list" || target === "file") && (
        <Field name="connections" label={t.connections} hint={t.connectionsHint}>
          {target === "file" ? (
            <FileInput required accept=".csv,.txt" />
          ) : (
            <TextArea required rows={6} spellCheck={false} className="control" />
          )}
        </Field>
      )}
      {isGoodwill && (
        <Grid>
          <DaysField
            days={days}
            onChange={(next) => {
              setDays(next);
              onChange();
            }}
          />
          <PlanField />
          <Field name="runningAt" label={t.runningAt} hint={t.runningAtHint}>
            <TextInput maxLength={19} />
          </Field>
        </Grid>
      )}
      <Field name="reason" label={texts.common.reason} hint={texts.common.reasonHint}>
        <TextInput required maxLength={200} />
      </Field>
    </Form>
  );
}

/** The rest of the day of a person with limits. */
function Left() {
  const { data } = useApi("GET /bulk/limits", {});
  const left = [
    [t.leftConnections, data?.connections],
    [t.leftDays, data?.goodwillDays],
    [t.leftAlone, data?.alone],
  ] as const;
  return (
    <KeyValue>
      {left.map(([label, count]) => count != null && <Fact key={label} label={label} value={formatCount(count)} />)}
    </KeyValue>
  );
}

function PlanField() {
  const plans = useApi("GET /plans", { environment: useEnvironment() });
  const options = plans.data?.items.map(({ plan, running }) => {
    return [plan, t.segmentOption(plan, countOf(running, "connection"))] as const;
  });
  return (
    <Field name="plan" label={t.plan} hint={t.planHint}>
      <Select any={t.anyPlan} options={options ?? []} />
    </Field>
  );
}

function SegmentField() {
  const environment = useEnvironment();
  const segments = useApi("GET /segments", { environment });
  return (
    <Loaded of={segments}>
      {({ items }) =>
        items.length === 0 ? (
          <p className="muted">{t.noSegments}</p>
        ) : (
          <Field name="segment" label={t.segment}>
            <Select
              required
              any={t.chooseSegment}
              options={items.map(({ segment, connections }) => [
                segment,
                t.segmentOption(segment, countOf(connections, "connection")),
              ])}
            />
          </Field>
        )
      }
    </Loaded>
  );
}

function AreaField() {
  const areas = useApi("GET /areas", { environment: useEnvironment() });
  const options = areas.data?.items.map(({ area, customers }) => {
    return [area, t.segmentOption(area, countOf(customers, "customer"))] as const;
  });
  return (
    <Field name="area" label={texts.customers.area}>
      <Select required any={t.chooseArea} options={options ?? []} />
    </Field>
  );
}

function requestOf(values: FormValues, action: BulkRequest["action"], target: Target): BulkRequest {
  // Untrimmed, so that its lines keep their numbers.
  const isGroup = target === "segment" || target === "area";
  const text = isGroup ? `${target} ${values.text(target)}` : values.raw("connections");
  const [plan, runningAt] = [values.optional("plan"), values.optional("runningAt")];
  return {
    action,
    file: values.file("connections") ?? new File([text], "list.txt"),
    reason: values.text("reason"),
    ...(action === "goodwill" && {
      days: values.number("days"),
      ...(plan && { plan }),
      ...(runningAt && { runningAt }),
    }),
  };
}
