import { ask } from "../api/client.ts";
import { ApiProblem } from "../api/problem.ts";
import { useLogIn } from "../api/session.tsx";
import { TextInput } from "../components/controls.tsx";
import { Field, Form, type FormValues } from "../components/form.tsx";
import { setup as t } from "./texts.ts";

/** Adds the first admin, and logs the admin in. */
export function FirstAdmin() {
  const logIn = useLogIn();
  const submit = async (values: FormValues) => {
    const [name, password] = [values.text("name"), values.raw("password")];
    if (values.raw("repeat") !== password) throw ApiProblem.ofField("repeat", t.differs);
    await ask("POST /setup/admin", { name, password, code: values.optional("code") });
    await logIn(name, password, undefined);
  };
  return (
    <Form submit={t.submit} onSubmit={submit}>
      <p className="muted">{t.lead}</p>
      <Field name="code" label={t.code} hint={t.codeHint}>
        <TextInput required autoComplete="off" autoCapitalize="none" />
      </Field>
      <Field name="name" label={t.name}>
        <TextInput required autoComplete="username" autoCapitalize="none" />
      </Field>
      <Field name="password" label={t.password} hint={t.passwordHint}>
        <TextInput required type="password" autoComplete="new-password" />
      </Field>
      <Field name="repeat" label={t.repeat}>
        <TextInput required type="password" autoComplete="new-password" />
      </Field>
    </Form>
  );
}
