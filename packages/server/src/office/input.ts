import type { Static, TObject } from "typebox";
import { Value } from "typebox/value";
import type { FieldProblem } from "../domain/fields.ts";
import { Refused } from "../domain/refused.ts";

/** Reads flags, which are texts, as a schema says. @throws Refused */
export function readInput<Schema extends TObject>(schema: Schema, given: Record<string, unknown>): Static<Schema> {
  const value = Value.Convert(schema, { ...given });
  if (Value.Check(schema, value)) return value;
  throw new Refused("invalid", "", problemsOf(Value.Errors(schema, value), schema));
}

interface ValidationError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: {
    readonly requiredProperties?: readonly string[];
    readonly additionalProperties?: readonly string[];
    readonly allowedValues?: readonly unknown[];
  };
  readonly message: string;
}

/** Words the errors of a schema. `x-problem` in the schema words the refusal of a pattern. */
export function problemsOf(errors: readonly unknown[], schema: object): FieldProblem[] {
  return (errors as readonly ValidationError[]).flatMap(({ keyword, instancePath, params, message }) => {
    const path = instancePath.split("/").slice(1);
    const field = path.join(".");
    const each = (names: readonly string[] = [], problem: string) =>
      names.map((name) => ({ field: [...path, name].join("."), problem }));
    switch (keyword) {
      case "required":
        return each(params.requiredProperties, "is required");
      case "additionalProperties":
        return each(params.additionalProperties, "is not known");
      // "additionalProperties" has reported the unknown field.
      case "boolean":
        return [];
      case "enum":
        return [{ field, problem: `must be one of ${params.allowedValues?.join(", ")}` }];
      case "pattern":
        return [{ field, problem: partOf(schema, path)["x-problem"] ?? "does not have the form that it must have" }];
      case "minimum":
      case "maximum": {
        const { minimum, maximum } = partOf(schema, path);
        const isSpan = minimum !== undefined && maximum !== undefined;
        return [{ field, problem: isSpan ? `must be a number from ${minimum} to ${maximum}` : message }];
      }
      default:
        return [{ field: field || "body", problem: message }];
    }
  });
}

interface Part {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly "x-problem"?: string;
}

/** The schema of a field of an input. */
function partOf(schema: object, [field = ""]: readonly string[]): Part {
  return (schema as { readonly properties?: Record<string, Part> }).properties?.[field] ?? {};
}
