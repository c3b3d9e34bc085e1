import { Type } from "typebox";
import type { Environment } from "../../domain/customer.ts";
import { EnvironmentSchema, oneOf } from "../common.ts";
import { fileOf } from "../fields.ts";
import { LARGE_CHANGES } from "./file.ts";

/** Input of every import. The first file of a new database is for production, too. */
export const IMPORT = {
  file: fileOf("The file to import: CSV if it ends in .csv, else NDJSON."),
  environment: Type.Optional(
    Type.Unsafe<Environment>({ ...EnvironmentSchema, description: "Whom it is for: production unless given." }),
  ),
  skipInvalid: Type.Optional(Type.Boolean({ description: "Takes the good lines although others are bad." })),
};

export const RejectedLineSchema = Type.Object(
  { line: Type.Integer(), problems: Type.Array(Type.Object({ field: Type.String(), problem: Type.String() })) },
  { title: "RejectedLine" },
);

export const LargeChangeSchema = Type.Object(
  { what: oneOf(LARGE_CHANGES), count: Type.Integer(), of: Type.Integer() },
  { title: "LargeChange" },
);
