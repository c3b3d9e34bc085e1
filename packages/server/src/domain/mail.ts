/* Mails to the operator. They contain no name, mobile number, token or password. */

export interface Mail {
  readonly subject: string;
  readonly text: string;
}

export interface Mailer {
  /** Host and port, for people. */
  readonly server: string;
  /** @returns recipients that the server refused, if it accepted others. @throws MailFailed */
  send(mail: Mail, signal?: AbortSignal): Promise<readonly string[]>;
}

/** Why a mail was not sent. The message contains no secret. */
export class MailFailed extends Error {
  override readonly name = "MailFailed";
  /** Words of the mail server, for people only: they may quote a user name. */
  readonly answer: string | undefined;

  constructor(message: string, answer?: string) {
    super(message);
    this.answer = answer;
  }
}

/** The mail by which an operator tries out the settings. */
export const TEST_MAIL: Mail = {
  subject: "topupd: test message",
  text: "This is a test message. topupd sends its alerts to this address.\n",
};
