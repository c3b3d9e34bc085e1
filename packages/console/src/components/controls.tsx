import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from "react";
import { issuerUrl, useMe } from "../api/session.tsx";
import { texts } from "../texts/index.ts";
import { Field, type FormValues, useField } from "./form.tsx";

/** A text control inside a Field. */
export function TextInput(props: InputHTMLAttributes<HTMLInputElement>) {
  return <input type="text" autoComplete="off" spellCheck={false} {...props} {...useField()} className="control" />;
}

/** Attributes of a text control for a day. */
export const DAY_INPUT = {
  inputMode: "numeric",
  placeholder: "YYYY-MM-DD",
  pattern: String.raw`\d{4}-\d{2}-\d{2}`,
  title: "YYYY-MM-DD",
  maxLength: 10,
} as const;

/** A day as YYYY-MM-DD, inside a Field. */
export function DayInput(props: InputHTMLAttributes<HTMLInputElement>) {
  return <TextInput {...DAY_INPUT} {...props} />;
}

export function TextArea(props: TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return <textarea rows={3} {...props} {...useField()} className="control" />;
}

/** Options as pairs of value and label. */
export type Options = readonly (readonly [value: string, label: string])[];

/** A select inside a Field. `any`: label of the empty choice. */
export function Select({
  options,
  any,
  ...rest
}: { options: Options; any?: string } & SelectHTMLAttributes<HTMLSelectElement>) {
  return (
    <select {...rest} {...useField()} className="control">
      {any !== undefined && <option value="">{any}</option>}
      {options.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  );
}

/** A file control inside a Field. */
export function FileInput(props: InputHTMLAttributes<HTMLInputElement>) {
  return <input {...props} {...useField()} type="file" className="control control-file" />;
}

/** A checkbox with its own label, outside a Field. */
export function Checkbox({
  label,
  hint,
  ...rest
}: { name: string; label: ReactNode; hint?: string } & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  return (
    <div className="checkbox">
      <input {...rest} type="checkbox" id={id} aria-describedby={hint && `${id}-hint`} />
      <label htmlFor={id}>{label}</label>
      {hint !== undefined && (
        <p id={`${id}-hint`} className="field-hint">
          {hint}
        </p>
      )}
    </div>
  );
}

export interface ChoiceProps<Value extends string> {
  /** Accessible name of the group. */
  readonly label: string;
  readonly value: Value;
  readonly options: readonly (readonly [value: Value, label: string])[];
  readonly onChoose: (value: Value) => void;
}

/** Buttons to choose one of a few values. */
export function Choice<Value extends string>({ label, value, options, onChoose }: ChoiceProps<Value>) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: some browsers cannot lay out a fieldset as a row
    <div className="choice" role="group" aria-label={label}>
      {options.map(([option, text]) => (
        <button key={option} type="button" aria-pressed={option === value} onClick={() => onChoose(option)}>
          {text}
        </button>
      ))}
    </div>
  );
}

/** The user's own password, or a new log-in with OpenID Connect. A stolen session alone cannot make a lasting change. */
export function OwnPasswordField() {
  const { name, logsInWith } = useMe();
  if (logsInWith === "oidc")
    return (
      <p className="field-hint">
        {texts.common.proof} <a href={issuerUrl("yes")}>{texts.common.logInAgain}</a>
      </p>
    );
  return (
    <>
      {/* Password managers need the name of the account. */}
      <input type="text" autoComplete="username" value={name} readOnly hidden />
      <Field name="ownPassword" label={texts.common.ownPassword}>
        <TextInput required type="password" autoComplete="current-password" />
      </Field>
    </>
  );
}

export function ownPassword(values: FormValues): { readonly ownPassword?: string } {
  const password = values.raw("ownPassword");
  return password === "" ? {} : { ownPassword: password };
}
