import { useState } from "react";
import { useApi } from "../../api/hooks.ts";
import type { Input } from "../../api/request.ts";
import { FileInput, Select, TextArea, TextInput } from "../../components/controls.tsx";
import { Grid } from "../../components/display.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { Field, Form, type FormValues } from "../../components/form.tsx";
import { Loaded } from "../../components/states.tsx";
import { countOf } from "../../format.ts";
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
      {target === "segment" ? (
        <SegmentField />
      ) : (
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
          <Field name="plan" label={t.plan} hint={t.planHint}>
            <TextInput maxLength={200} />
          </Field>
        </Grid>
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

function requestOf(values: FormValues, action: BulkRequest["action"], target: Target): BulkRequest {
  // Untrimmed, so that its lines keep their numbers.
  const text = target === "segment" ? `segment ${values.text("segment")}` : values.raw("connections");
  const plan = values.optional("plan");
  return {
    action,
    file: values.file("connections") ?? new File([text], "list.txt"),
    reason: values.text("reason"),
    ...(action === "goodwill" && { days: values.number("days"), ...(plan !== undefined && { plan }) }),
  };
}
