import { Option } from "commander";
import type { Attribution } from "../domain/audit.ts";
import { attributionOf, type StaffPorts } from "../operations/ports.ts";
import type { Store } from "../store/store.ts";
import { type Runtime, WrongUsage } from "./runtime.ts";

export interface StaffOptions {
  readonly as?: string;
}

/** One line, and no longer than a terminal shows well. */
const NAME = /^[^\s\p{C}](?:(?:[^\p{C}]|[\u200c\u200d]){0,62}[^\s\p{C}])?$/u;

/** For every command that changes something. */
export function asOption(): Option {
  return new Option("--as <NAME>", "who stands in the audit trail for it (default: your user name here, also by sudo)");
}

export function staffPorts(runtime: Runtime, store: Store, { as }: StaffOptions): StaffPorts {
  if (as !== undefined && !NAME.test(as))
    throw new WrongUsage("--as must be a name of 1 to 64 characters, and no blank at either end");
  const { clock, random } = runtime;
  return { store, clock, random, author: as ?? callerOf(runtime) };
}

/**
 * Commands are run as the service's user, which is all the same for everybody: sudo tells who that was. A name that none
 * could be given by `--as` is no reason to fail.
 */
function callerOf({ env, userName }: Runtime): string {
  const caller = env["SUDO_USER"];
  return caller !== undefined && NAME.test(caller) ? caller : userName();
}

/** For what needs no more than to be written down. */
export function attributed(runtime: Runtime, store: Store, options: StaffOptions): Attribution {
  return attributionOf(staffPorts(runtime, store, options));
}
