import type { Attribution } from "../domain/audit.ts";
import type { Authority } from "../domain/authority.ts";
import type { FieldProblem } from "../domain/fields.ts";
import type { NumberGrouping } from "../domain/money.ts";
import type { AccountTools } from "../domain/passwords.ts";
import type { RadiusDifference } from "../domain/radius.ts";
import type { SessionTools } from "../domain/sessions.ts";
import type { Poster, RadiusConfig, Sender, Target, TargetConfig } from "../domain/target.ts";
import type { Ports } from "../store/ports.ts";
import type { Store } from "../store/store.ts";
import type { ApprovalRow } from "../store/tables.ts";
import type { ServiceState } from "../system/service-state.ts";
import type { Limits } from "./limits.ts";

/** The account or shell that runs operations. */
export interface Actor {
  readonly name: string;
  /** Undefined for the command line, which has no account. */
  readonly authority?: Authority | undefined;
}

/** A setting of the first run, as the service or command has it. */
export interface FirstSetting {
  readonly title: string;
  /** Name in the environment file. */
  readonly variable: string;
  /** Null if it is not set. Never a password. */
  readonly value: string | null;
  /** Whether the first step needs it. */
  readonly isNeeded: boolean;
}

/** The parts that a face gives to every operation. */
export interface Desk extends Ports {
  readonly actor: Actor;
  /** Lowers the priority of the process, if possible. */
  readonly giveWay: () => void;
  readonly limits: Limits | undefined;
  readonly accounts: AccountTools;
  readonly targets: TargetTools;
  /** The only object of a class in this process, made when it is first needed. */
  readonly single: <Of>(Class: new (ports: SinglePorts) => Of) => Of;
  readonly state: Readonly<ServiceState>;
  readonly currency: string | undefined;
  readonly numberGrouping: NumberGrouping;
  /** Settings of the first run. */
  readonly settings: readonly FirstSetting[];
  /** Whether a timer makes a backup every hour. */
  readonly backsUpHourly?: boolean | undefined;
  /** Runs long work. The service answers at once; a command waits until the work is done. */
  readonly goOn: (work: (ending: AbortSignal) => Promise<void>) => Promise<void>;
  /** Shows the progress of long work on a terminal. */
  readonly progress: (words: string) => void;
  /** Resolves early if the signal is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** Functions that reach the outside for each kind of target. */
export interface TargetTools {
  /** The problem of an address; undefined if there is none. */
  problemOf(config: TargetConfig): Promise<FieldProblem | undefined>;
  /** Makes the secret of a webhook. */
  newSecret(): Promise<string>;
  /** @param target of kind webhook. */
  createPoster(target: Target): Poster;
  /** @param target a system of the provider's. */
  createSender(target: Target, store: Pick<Store, "engine" | "provider">): Sender;
  /** @param target of kind RADIUS. */
  createSessionTools(target: Target): SessionTools;
  /**
   * Compares the RADIUS database with the records, and corrects differences unless it is a preview.
   * @throws DeliveryFailed if the RADIUS database fails.
   */
  reconcileRadius(
    ports: Pick<Ports, "store" | "clock">,
    config: RadiusConfig,
    request: { readonly isPreview: boolean },
    onDifference: (difference: RadiusDifference) => void,
  ): Promise<RadiusCounts>;
}

export interface RadiusCounts {
  /** Number of users. */
  readonly compared: number;
  /** Number of users with a difference. */
  readonly differing: number;
}

/** Everything that an operation works with: the database, the outside, and the author. */
export interface Office extends Omit<Desk, "actor"> {
  readonly by: Attribution;
  readonly isPreview: boolean;
  /** The request that the author confirms, as the second person. */
  readonly confirms?: ApprovalRow;
}

/** Makes the office for one call. */
export function officeOf<Of extends Pick<Desk, "actor" | "store" | "clock">>(
  { actor, ...desk }: Of,
  input: object = {},
) {
  const { preview, reason } = input as { readonly preview?: boolean; readonly reason?: string };
  const by = { author: actor.name, authority: actor.authority, at: desk.clock(), reason: reason?.trim() };
  return { ...desk, by, isPreview: preview === true };
}

/** The same office, which reads the standby if there is one. */
export function forReports(office: Office): Office {
  return { ...office, store: { ...office.store, engine: office.store.reports } };
}

type SinglePorts = Pick<Ports, "store" | "clock">;

/** Keeps the objects of a process. */
export function singlesOf(ports: SinglePorts): Desk["single"] {
  const made = new Map<unknown, unknown>();
  return <Of>(Class: new (of: SinglePorts) => Of) => {
    const single = made.get(Class) ?? new Class(ports);
    made.set(Class, single);
    return single as Of;
  };
}
