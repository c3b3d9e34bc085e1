import { useMe } from "../api/session.tsx";
import { texts } from "../texts/index.ts";
import { TextInput } from "./controls.tsx";
import { Field, type FormValues } from "./form.tsx";

/** A field for one's own password, asked before a change that would outlast a stolen session. */
export function OwnPasswordField() {
  const { name } = useMe();
  return (
    <>
      {/* Password managers see by it whose password it is. */}
      <input type="text" autoComplete="username" value={name} readOnly hidden />
      <Field name="ownPassword" label={texts.common.ownPassword}>
        <TextInput required type="password" autoComplete="current-password" />
      </Field>
    </>
  );
}

/** The field of the staff API's request. */
export function ownPassword(values: FormValues): { readonly ownPassword: string } {
  return { ownPassword: values.raw("ownPassword") };
}
