import { useState } from "react";
import { useApi } from "../../api/hooks.ts";
import type { Input } from "../../api/request.ts";
import { Checkbox, Select, TextArea, TextInput } from "../../components/controls.tsx";
import { Grid } from "../../components/display.tsx";
import { Field, Form, type FormValues } from "../../components/form.tsx";
import { Loaded } from "../../components/states.tsx";
import { countOf } from "../../format.ts";
import { useEnvironment } from "../../shell/environment.tsx";
import { texts } from "../../texts/index.ts";
import { DaysField } from "../customers/corrections.tsx";

const t = texts.bulk;

export type BulkRequest = Omit<Input<"POST /bulk">, "environment">;

interface BulkFormProps {
  readonly onPreview: (request: BulkRequest) => Promise<unknown>;
  readonly onChange: () => void;
}

/** Form of a bulk change: action, connections, reason. */
export function BulkForm({ onPreview, onChange }: BulkFormProps) {
  const [action, setAction] = useState<BulkRequest["action"]>("goodwill");
  const [target, setTarget] = useState<"list" | "segment">("list");
  const [days, setDays] = useState("1");
  const isGoodwill = action === "goodwill";
  return (
    <Form submit={t.preview} onChange={onChange} onSubmit={(values) => onPreview(requestOf(values, action))}>
      <Grid>
        <Field name="action" label={t.action}>
          <Select
            options={Object.entries(t.actions)}
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
      {target === "list" ? (
        <Field name="connections" label={t.connections} hint={t.connectionsHint}>
          <TextArea required rows={6} spellCheck={false} className="control" />
        </Field>
      ) : (
        <SegmentField />
      )}
      {isGoodwill && (
        <>
          <Grid>
            <DaysField
              days={days}
              onChange={(next) => {
                setDays(next);
                onChange();
              }}
            />
            <Field name="plan" label={t.plan} hint={t.planHint}>
              <TextInput maxLength={200} />
            </Field>
          </Grid>
          <Checkbox name="skipRepeated" label={t.skipRepeated} defaultChecked />
        </>
      )}
      <Field name="reason" label={texts.common.reason} hint={texts.common.reasonHint}>
        <TextInput required maxLength={200} />
      </Field>
    </Form>
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

function requestOf(values: FormValues, action: BulkRequest["action"]): BulkRequest {
  const lines = values
    .text("connections")
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const [segment, plan] = [values.optional("segment"), values.optional("plan")];
  return {
    action,
    reason: values.text("reason"),
    ...(lines.length > 0 && { connections: lines }),
    ...(segment !== undefined && { segment }),
    ...(action === "goodwill" && { days: values.number("days"), skipRepeated: values.checked("skipRepeated") }),
    ...(action === "goodwill" && plan !== undefined && { plan }),
  };
}
