import { alertMail } from "../../domain/alert.ts";
import { type Mailer, MailFailed } from "../../domain/mail.ts";
import type { Ports } from "../../store/ports.ts";
import { raiseBalances } from "./balances.ts";
import { raiseRefusals } from "./refusals.ts";
import { alertsToMail, forgetAlerts, noteMailed } from "./sql.ts";

export interface AlertPorts extends Pick<Ports, "store" | "clock"> {
  /** Undefined: no mail is sent. */
  readonly mailer: Mailer | undefined;
  /** Held by the process that looks for alerts and sends mails. */
  readonly lease: { take(): Promise<boolean> };
  readonly log: (level: "warn", fields: object, message: string) => void;
}

/** @returns one round: it records new alerts with their events, and sends the mails that are due. */
export function alertWatch(ports: AlertPorts): (stopping: AbortSignal) => Promise<void> {
  const { store, clock, lease } = ports;
  let place: number | undefined;
  const sendMails = mailing(ports);
  return async (stopping) => {
    if (!(await lease.take())) return;
    place = await raiseRefusals(ports, place);
    await raiseBalances(ports);
    await forgetAlerts(store.engine, clock());
    await sendMails(stopping);
  };
}

/** Sends each mail until the server accepts it, for a day. */
function mailing({ store, clock, mailer, lease, log }: AlertPorts): (stopping: AbortSignal) => Promise<void> {
  const { engine, provider } = store;
  /** The last failure that was logged. */
  let problem: string | undefined;
  return async (stopping) => {
    if (mailer === undefined) return;
    for (const alert of await alertsToMail(engine.db, clock())) {
      if (stopping.aborted || !(await lease.take())) return;
      try {
        const refused = await mailer.send(
          alertMail(alert, alert.partner, provider.zone, provider.currencyExponent),
          stopping,
        );
        if (refused.length > 0) log("warn", { count: refused.length }, "the mail server refused recipients of alerts");
      } catch (error) {
        if (!(error instanceof MailFailed)) throw error;
        if (error.message !== problem && !stopping.aborted)
          log("warn", { cause: error.message }, "mails about alerts are late: run topupd check mail");
        problem = error.message;
        return;
      }
      problem = undefined;
      await noteMailed(engine, alert, clock());
    }
  };
}
