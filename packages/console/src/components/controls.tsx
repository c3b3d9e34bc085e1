import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from "react";
import { useField } from "./form.tsx";

/** Within a Field. */
export function TextInput(props: InputHTMLAttributes<HTMLInputElement>) {
  return <input type="text" autoComplete="off" spellCheck={false} {...props} {...useField()} className="control" />;
}

/** Within a Field. */
export function TextArea(props: TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return <textarea rows={3} {...props} {...useField()} className="control" />;
}

/** Options as pairs of value and label. */
export type Options = readonly (readonly [value: string, label: string])[];

/** Within a Field. `any`: the choice of nothing, with value "". */
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

/** Within a Field. `accept` as in `.csv,.ndjson`. */
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
