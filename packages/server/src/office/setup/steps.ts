import { Type } from "typebox";
import type { Db } from "../../store/engine.ts";
import { oneOf, orNull } from "../common.ts";
import type { FirstSetting, Office } from "../office.ts";
import { type Operation, operation } from "../operation.ts";

/* The steps of the first run. A step is done if its fact exists: nothing else is stored about progress. */

/** Settings of the first run, in the order in which they are asked. */
export const FIRST_SETTINGS = [
  ["database", "Database", true],
  ["timeZone", "Time zone", true],
  ["currency", "Currency", true],
  ["currencyExponent", "Decimals of the currency", true],
  ["defaultCountry", "Country", true],
  ["providerName", "Your name on settlements", false],
  ["providerAddress", "Your address on settlements", false],
  ["providerNumber", "Your registration on settlements", false],
  ["providerTax", "Your tax number on settlements", false],
  ["prefix", "Start of partners' paths", false],
  ["publicUrl", "Partners' base URL", false],
] as const satisfies readonly (readonly [name: string, title: string, isNeeded: boolean])[];

interface StepTexts {
  readonly title: string;
  readonly text: string;
  readonly command: string;
  /** Page of the console that does it; null if only the command does. */
  readonly page: string | null;
}

/** The steps in their order. */
const STEPS = {
  settings: {
    title: "Settings",
    text: "Set database, time zone, currency, decimals and country in the environment file.",
    command: "topupd setup",
    page: null,
  },
  admin: {
    title: "First admin",
    text: "Add the account of an admin, who switches one-time codes on at the first log-in.",
    command: "topupd staff add NAME --role admin",
    page: "/staff",
  },
  catalogue: {
    title: "Catalogue",
    text: "Import the bouquets that you sell.",
    command: "topupd import catalogue FILE",
    page: "/catalogue",
  },
  customers: {
    title: "Customers",
    text: "Import your customers with their connections and subscriptions.",
    command: "topupd import customers FILE",
    page: "/imports",
  },
  partner: {
    title: "First partner",
    text: "Add a partner that sells top-ups.",
    command: "topupd partner add NAME",
    page: "/partners",
  },
  trial_token: {
    title: "Trial token",
    text: "Give the partner a token for the trial environment, where it tests its program.",
    command: "topupd token issue --partner NAME --environment trial",
    page: "/partners",
  },
} as const satisfies Readonly<Record<string, StepTexts>>;

type Step = keyof typeof STEPS;
const STEP_NAMES = Object.keys(STEPS) as Step[];
const TEXTS: Readonly<Record<Step, StepTexts>> = STEPS;

const SetupStepSchema = Type.Object(
  {
    step: oneOf(STEP_NAMES),
    title: Type.String(),
    text: Type.String({ description: "What to do." }),
    isDone: Type.Boolean(),
    command: Type.String({ description: "The command that does it." }),
    page: orNull(Type.String({ description: "Page of the console that does it; null if only the command does." })),
  },
  { title: "SetupStep" },
);

const SetupSchema = Type.Object(
  {
    isDone: Type.Boolean({ description: "Whether all steps are done." }),
    steps: Type.Array(SetupStepSchema),
    settings: Type.Array(
      Type.Object({
        title: Type.String(),
        variable: Type.String({ description: "Name in the environment file." }),
        value: orNull(Type.String({ description: "Null if it is not set." })),
        isNeeded: Type.Boolean(),
      }),
    ),
  },
  { title: "Setup" },
);

export const readSetup = operation({
  tag: "Setup",
  permission: "administer",
  http: "GET /setup",
  summary: "List the steps of the first run, and the settings that belong to it",
  input: Type.Object({}),
  answer: SetupSchema,
  run: async ({ store, settings }: Office) => setupOf(settings, await readFacts(store.engine.db)),
});

export const operations: readonly Operation[] = [readSetup];

type Facts = Readonly<Record<Exclude<Step, "settings">, boolean>>;

const NO_FACTS: Facts = { admin: false, catalogue: false, customers: false, partner: false, trial_token: false };

/** @param facts of the database (default: there is none). */
export function setupOf(settings: readonly FirstSetting[], facts: Facts = NO_FACTS) {
  const done = { ...facts, settings: settings.every(({ value, isNeeded }) => value !== null || !isNeeded) };
  const steps = STEP_NAMES.map((step) => ({ step, ...TEXTS[step], isDone: done[step] }));
  return { isDone: steps.every(({ isDone }) => isDone), steps, settings: [...settings] };
}

async function readFacts(db: Db): Promise<Facts> {
  const exists = async (query: { executeTakeFirst(): Promise<unknown> }) =>
    (await query.executeTakeFirst()) !== undefined;
  const inProduction = (table: "catalogueRevision" | "customer") =>
    exists(db.selectFrom(table).select("environment").where("environment", "=", "production").limit(1));
  const trial = db.selectFrom("accessToken").select("id").where("environment", "=", "trial");
  return {
    admin: await exists(db.selectFrom("staff").select("id").where("role", "=", "admin").limit(1)),
    catalogue: await inProduction("catalogueRevision"),
    customers: await inProduction("customer"),
    partner: await exists(db.selectFrom("partner").select("id").limit(1)),
    trial_token: await exists(trial.limit(1)),
  };
}
