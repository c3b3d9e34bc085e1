import { type Mail, type Mailer, MailFailed } from "../../domain/mail.ts";
import { keyOf, type MailWords, type Problem, type ProblemKey, problemMail } from "../../domain/problem.ts";
import { dayAt } from "../../domain/wall-time.ts";
import type { AlertRow } from "../../store/tables.ts";
import { type ProblemPorts, problemsOfDay, readProblems } from "./problems.ts";
import { alertsToMail, endAlert, forgetAlerts, noteMailed, openAlerts, raiseAlert } from "./sql.ts";

export interface AlertPorts extends ProblemPorts {
  /** Undefined: no mail is sent. */
  readonly mailer: Mailer | undefined;
  readonly words: MailWords;
  /** Held by the process that looks for problems and sends mails. */
  readonly lease: { take(): Promise<boolean> };
  /** Gets the problems of each round; none in a process without the lease. */
  readonly observe?: ((problems: readonly Problem[]) => void) | undefined;
  readonly log: (level: "warn", fields: object, message: string) => void;
}

/** @returns one round: it compares the problems with the recorded ones, writes events, and sends the mails that are due. */
export function alertWatch(ports: AlertPorts): (stopping: AbortSignal) => Promise<void> {
  const { store, clock, lease, observe } = ports;
  const sendMails = mailing(ports);
  return async (stopping) => {
    const isHeld = await lease.take();
    const problems = isHeld ? await readProblems(ports) : [];
    observe?.(problems);
    if (!isHeld) return;
    await record(ports, problems);
    await forgetAlerts(store.engine, clock());
    await sendMails(stopping, problems);
  };
}

async function record({ store, clock }: Pick<AlertPorts, "store" | "clock">, problems: readonly Problem[]) {
  const { engine, provider } = store;
  const now = clock();
  // Calls are written a moment later, so the last ones of a day are found on the next.
  const yesterday = dayAt(dayAt(now, provider.zone).start - 1, provider.zone);
  const found = [...(await problemsOfDay(store, yesterday)), ...problems];
  for (const problem of found) await raiseAlert(engine, problem, now);
  const still = new Set(problems.map(nameOf));
  for (const alert of await openAlerts(engine.db)) if (!still.has(nameOfRow(alert))) await endAlert(engine, alert, now);
}

function nameOf(problem: Problem): string {
  return nameOfRow(keyOf(problem));
}

function nameOfRow({ kind, environment, subject, limitName, endsAt }: ProblemKey): string {
  return JSON.stringify([kind, environment, subject, limitName, endsAt]);
}

/** Sends each mail until the server accepts it, for a day. */
function mailing({ store, clock, mailer, words, lease, log }: AlertPorts) {
  if (mailer === undefined) return async () => {};
  const { engine, provider } = store;
  const { zone, currencyExponent: exponent } = provider;
  /** The last failure that was logged. */
  let failure: string | undefined;

  /** An end has the figures of its whole day. */
  const mailOf = async (alert: AlertRow, problems: readonly Problem[]) => {
    const { endsAt, at: beganAt } = alert;
    const isOver = endsAt <= clock();
    const known = isOver ? await problemsOfDay(store, dayAt(endsAt - 1, zone)) : problems;
    const problem = known.find((each) => nameOf(each) === nameOfRow(alert)) ?? problemOf(alert);
    return problemMail(problem, { beganAt, endedAt: isOver ? endsAt : undefined, zone, exponent, words });
  };
  /** @returns whether the server has accepted the mail. */
  const send = async (mail: Mail, stopping: AbortSignal): Promise<boolean> => {
    try {
      const refused = await mailer.send(mail, stopping);
      if (refused.length > 0) log("warn", { count: refused.length }, "the mail server refused recipients of alerts");
      failure = undefined;
      return true;
    } catch (error) {
      if (!(error instanceof MailFailed)) throw error;
      if (error.message !== failure && !stopping.aborted)
        log("warn", { cause: error.message }, "mails about alerts are late: run topupd check mail");
      failure = error.message;
      return false;
    }
  };
  return async (stopping: AbortSignal, problems: readonly Problem[]): Promise<void> => {
    for (const alert of await alertsToMail(engine.db, clock())) {
      if (stopping.aborted || !(await lease.take())) return;
      if (!(await send(await mailOf(alert, problems), stopping))) return;
      await noteMailed(engine, alert, clock());
    }
  };
}

function problemOf({ kind, environment, subject, limitName }: AlertRow): Problem {
  return {
    kind,
    ...(environment !== "" && { environment }),
    ...(subject !== "" && { subject }),
    ...(limitName !== "" && { limit: limitName }),
  };
}
