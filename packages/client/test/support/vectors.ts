import { readFileSync } from "node:fs";
import type { Client } from "../../src/index.ts";
import { PREFIX } from "./wire.ts";

/** One call, the answers to it, and its outcome. The file describes the fields. */
export interface Vector {
  readonly name: string;
  readonly do?: Exclude<keyof Client, "topUp">;
  readonly with?: Readonly<Record<string, string>>;
  /** `v1.0.1` if it is not given. */
  readonly version?: string;
  readonly options?: object;
  readonly resumed?: boolean | undefined;
  readonly giveUpAfterMs?: number | undefined;
  readonly answers: readonly VectorAnswer[];
  readonly calls: readonly (readonly [operation: string, waitMs: number])[];
  readonly outcome: { readonly raised?: string };
}

const WAYS = ["half", "halfInChunks", "inChunks", "drip"] as const;
export type VectorAnswer = string | Partial<Readonly<Record<(typeof WAYS)[number], string>>>;

export interface ScriptedAnswer {
  readonly way: (typeof WAYS)[number] | "whole" | "close" | "hang";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

interface NamedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly text?: string;
  readonly repeat?: readonly [string, number];
  readonly base64?: string;
}

export const VECTORS = JSON.parse(
  readFileSync(new URL("../../../../contract/client-vectors.json", import.meta.url), "utf8"),
) as {
  readonly nowMs: number;
  readonly token: string;
  readonly purchase: Readonly<Record<string, string>>;
  readonly answers: Readonly<Record<string, NamedAnswer>>;
  readonly vectors: readonly Vector[];
};

export function scripted(answer: VectorAnswer): ScriptedAnswer {
  if (answer === "close" || answer === "hang") return { way: answer, status: 0, headers: {}, body: Buffer.alloc(0) };
  const way = typeof answer === "string" ? "whole" : WAYS.find((name) => answer[name] !== undefined);
  const name = typeof answer === "string" ? answer : answer[way as (typeof WAYS)[number]];
  const named = VECTORS.answers[name ?? ""];
  if (way === undefined || named === undefined) throw new Error(`no answer is named ${JSON.stringify(answer)}`);
  return {
    way,
    status: named.status,
    headers: { "content-type": "application/json", ...named.headers },
    body: bodyOf(named),
  };
}

/** The expected request: always of the same purchase. */
export function requestOf(
  { do: action, version = "v1.0.1" }: Vector,
  operation: string,
  values: Readonly<Record<string, string>>,
) {
  const isQueryOfTopUp = action === undefined && operation !== "subscription-package-topup";
  const common = { authorization: `Bearer ${VECTORS.token}`, contentType: "application/json" };
  const path = `${PREFIX}/${version}/${operation}`;
  if (operation.startsWith("partner/")) return { line: `GET ${path}`, ...common };
  return {
    ...common,
    line: `POST ${path}`,
    body: isQueryOfTopUp ? { checkoutId: values["checkoutId"] } : values,
  };
}

function bodyOf({ json, text, repeat, base64 }: NamedAnswer): Buffer {
  if (base64 !== undefined) return Buffer.from(base64, "base64");
  return Buffer.from(text ?? repeat?.[0].repeat(repeat[1]) ?? JSON.stringify(json));
}
