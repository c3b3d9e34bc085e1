import { type Mail, type Mailer, MailFailed } from "../domain/mail.ts";
import type { Instant } from "../domain/wall-time.ts";
import type { MailServer } from "./mail-settings.ts";

export interface MailPorts {
  readonly clock: () => Instant;
  readonly limitMs?: number;
}

interface MailConfig {
  readonly mail?: MailServer | undefined;
  readonly mailFrom?: string | undefined;
  readonly mailTo?: readonly string[] | undefined;
}

/** Time limit of a mail: shorter than the lease of its sender, so that no other process sends the mail meanwhile. */
const LIMIT_MS = 15_000;

/** Sends mails by SMTP. The library is loaded at the first one. @returns undefined if no mail server is set. */
export function mailerOf(config: MailConfig, { clock, limitMs = LIMIT_MS }: MailPorts): Mailer | undefined {
  const { mail: server, mailFrom: from, mailTo: to } = config;
  if (server === undefined || from === undefined || to === undefined) return undefined;
  const { port, secure, logIn } = server;
  const host = server.host.replace(/^\[|\]$/g, "");
  const options = {
    host,
    port,
    secure,
    auth: logIn,
    // A password needs TLS, except on this machine. Otherwise the library uses TLS if the server offers it.
    requireTLS: logIn !== undefined && !isHere(host),
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  return {
    server: `${server.host}:${port}`,
    async send({ subject, text }: Mail, signal) {
      const { createTransport } = await import("nodemailer");
      const message = {
        from: { name: "topupd", address: from },
        to: [...to],
        subject,
        text,
        date: new Date(clock()),
        // Prevents automatic replies (RFC 3834).
        headers: { "Auto-Submitted": "auto-generated" },
      };
      const limit = AbortSignal.timeout(limitMs);
      const ending = signal === undefined ? limit : AbortSignal.any([signal, limit]);
      try {
        return (await createTransport(options).sendMail({ ...message, signal: ending })).rejected;
      } catch (error) {
        throw failureOf(limit.aborted ? { code: "ETIMEDOUT" } : (error as SmtpError));
      }
    },
  };
}

function isHere(host: string): boolean {
  return /^(localhost|127(\.\d+){3}|::1)$/.test(host);
}

interface SmtpError {
  readonly code?: string;
  readonly originalCode?: string;
  readonly command?: string;
  readonly response?: string;
  readonly responseCode?: number;
}

/** Reasons by the error code of the system, of the library, and by the command that the server refused. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connections to it are refused",
  EDNS: "its host has no address",
  ETIMEDOUT: "it does not answer in time",
  ESOCKET: "the connection failed",
  ECONNECTION: "it closed the connection",
  EPROTOCOL: "it does not accept the connection",
  ETLS: "a connection with TLS is not possible",
  EAUTH: "it refused the user name or password",
  EABORT: "the sending was interrupted",
  "MAIL FROM": "it refused the sender",
  "RCPT TO": "it refused all recipients",
};

/** Never uses the error's message: it quotes the server. */
function failureOf({ code = "", originalCode = "", command = "", response, responseCode }: SmtpError): MailFailed {
  const reason = REASONS[originalCode] ?? REASONS[code] ?? REASONS[command] ?? "it did not accept the mail";
  return new MailFailed(`${reason} (${responseCode ?? (originalCode || code)})`, response);
}
