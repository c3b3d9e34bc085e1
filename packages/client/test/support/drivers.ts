import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { isInstalled } from "../../../server/test/support/installed.ts";
import {
  type Client,
  type ClientOptions,
  createClient,
  type Days,
  type ListRequest,
  type Purchase,
} from "../../src/index.ts";
import type { Vector } from "./vectors.ts";

/** A call as a driver reads it. */
export interface DriverCall extends Pick<Vector, "resumed" | "giveUpAfterMs"> {
  readonly nowMs: number;
  readonly options: object;
  readonly do: keyof Client;
  readonly with: object;
}

export interface DriverAnswer {
  readonly outcome: { readonly [name: string]: unknown };
  readonly waitsMs: readonly number[];
  /** Text that a log may show. */
  readonly shown: string;
}

export interface Driver {
  readonly call: (call: DriverCall) => Promise<DriverAnswer>;
  readonly stop: () => void;
}

const CLIENTS = fileURLToPath(new URL("../../../../clients/", import.meta.url));

/** The drivers of the clients in other languages. */
export const OTHERS = {
  Python: { command: ["python3", `${CLIENTS}python/tests/driver.py`] },
  PHP: { command: ["php", `${CLIENTS}php/tests/driver.php`] },
} as const;

/** One process for all calls. @param words of its command line; by default, those of the client. */
export function childDriver(
  language: keyof typeof OTHERS,
  words: readonly string[] = OTHERS[language].command.slice(1),
): Driver {
  const [program] = OTHERS[language].command;
  const child: ChildProcessWithoutNullStreams = spawn(program, words, { stdio: ["pipe", "pipe", "pipe"] });
  let errors = "";
  child.stderr.on("data", (piece) => {
    errors += piece;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async call(call) {
      child.stdin.write(`${JSON.stringify(call)}\n`);
      const { value, done } = await lines.next();
      if (done === true || errors !== "") throw new Error(`the driver in ${language} said: ${errors}`);
      return JSON.parse(value);
    },
    stop: () => child.stdin.end(),
  };
}

/** The client of this package. Only waits pass in no time: a time limit of an answer has a signal, and is a real one. */
const ownDriver: Driver = {
  async call({ nowMs, options, do: action, with: values, resumed, giveUpAfterMs }) {
    const waitsMs: number[] = [];
    let passedMs = 0;
    const clock = {
      now: () => nowMs + passedMs,
      sleep: async (ms: number, signal?: AbortSignal) => {
        if (signal !== undefined) return realSleep(ms, signal);
        waitsMs.push(ms);
        passedMs += ms;
      },
    };
    try {
      const client = createClient({ clock, random: () => 0.999_999, ...options } as ClientOptions);
      const calls: Readonly<Record<keyof Client, () => Promise<object>>> = {
        topUp: () => client.topUp(values as Purchase, { resumed, giveUpAfterMs }),
        lookUpCustomer: () => client.lookUpCustomer((values as { readonly code: string }).code),
        listPackages: () => client.listPackages(values as ListRequest),
        queryTransaction: () => client.queryTransaction((values as { readonly checkoutId: string }).checkoutId),
        getAccount: () => client.getAccount(),
        listAccountEntries: () => client.listAccountEntries(values as Days),
        listTopUps: () => client.listTopUps(values as Days),
        findTopUps: () => client.findTopUps((values as { readonly udf1: string }).udf1),
      };
      const outcome = await calls[action]();
      return { outcome: camel(outcome) as DriverAnswer["outcome"], waitsMs, shown: inspect([outcome, client]) };
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      return { outcome: { raised: error.message }, waitsMs, shown: inspect(error) };
    }
  },
  stop: () => {},
};

function realSleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => clearTimeout(timer));
  });
}

/** Names as the other drivers give them: `first_name` is `firstName`. */
function camel(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camel);
  if (typeof value !== "object" || value === null) return value;
  const named = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [named(name), camel(item)]));
}

/** All clients, with those that cannot run here. */
export const DRIVERS: readonly (readonly [language: string, isHere: boolean, start: () => Driver])[] = [
  ["TypeScript", true, () => ownDriver],
  ["Python", isInstalled("Python"), () => childDriver("Python")],
  ["PHP", isInstalled("PHP"), () => childDriver("PHP")],
];
