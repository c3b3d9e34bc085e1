import { useState } from "react";
import { useSend } from "../../api/hooks.ts";
import { ApiProblem } from "../../api/problem.ts";
import { TextInput } from "../../components/controls.tsx";
import { Card } from "../../components/display.tsx";
import { Field, Form, type FormValues } from "../../components/form.tsx";
import { OwnPasswordField, ownPassword } from "../../components/own-password.tsx";
import { useToast } from "../../shell/toasts.tsx";
import { texts } from "../../texts/index.ts";

const t = texts.account;

export function PasswordCard() {
  const send = useSend("PUT /session/password");
  const toast = useToast();
  /** Empties the fields when it was changed. */
  const [times, setTimes] = useState(0);
  const submit = async (values: FormValues) => {
    const password = values.raw("password");
    if (values.raw("again") !== password) throw ApiProblem.ofField("again", t.notTheSame);
    await send.mutateAsync({ password, ...ownPassword(values) });
    setTimes(times + 1);
    toast(t.changed);
  };
  return (
    <Card title={t.password}>
      <Form key={times} submit={t.change} onSubmit={submit}>
        <OwnPasswordField />
        <Field name="password" label={t.next} hint={t.nextHint}>
          <TextInput required type="password" minLength={12} maxLength={256} autoComplete="new-password" />
        </Field>
        <Field name="again" label={t.again}>
          <TextInput required type="password" autoComplete="new-password" />
        </Field>
      </Form>
    </Card>
  );
}
