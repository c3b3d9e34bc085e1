import { Option } from "commander";
import { WrongUsage } from "./runtime.ts";

export interface ReasonOptions {
  readonly reason: string;
}

/** One line of text that says something, and that a list shows whole. */
const REASON = /^(?=.*\S)[^\p{C}]{1,200}$/u;

/** For every correction: who reads the audit trail in a year wants to know why. */
export function reasonOption(): Option {
  return new Option("--reason <TEXT>", "why, in a few words: it stays in the audit trail").makeOptionMandatory();
}

export function readReason({ reason }: ReasonOptions): string {
  if (REASON.test(reason)) return reason.trim();
  throw new WrongUsage('--reason must be one line of 1 to 200 characters, such as --reason "paid twice"');
}
