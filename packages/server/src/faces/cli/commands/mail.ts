import type { Command } from "commander";
import { type Mailer, MailFailed, TEST_MAIL } from "../../../domain/mail.ts";
import { printable } from "../../../office/text.ts";
import { mailerOf } from "../../../system/mail.ts";
import { addCommand, type Context, groupNamed } from "../command.ts";
import { FoundWrong, WrongUsage } from "../failures.ts";
import type { Runtime } from "../runtime.ts";

/** Adds `topupd check mail`. */
export function addMailCheck(program: Command, runtime: Runtime): void {
  addCommand(groupNamed(program, "check"), runtime, {
    name: "mail",
    description: "send a test message to the recipients of alerts (exit code 3: it was not sent to all)",
    examples: ["topupd check mail", "topupd check mail --mail-to alerts@provider.example"],
    settings: ["mail", "mailFrom", "mailTo"],
    run: async (context) => {
      const mailer = mailerOf(context.config, runtime);
      if (mailer === undefined) throw new WrongUsage("no mail server is set: set --mail, --mail-from and --mail-to");
      await sendTest(context, mailer);
    },
  });
}

async function sendTest({ show, config: { mailTo = [] } }: Context, mailer: Mailer): Promise<void> {
  const refused = await mailer.send(TEST_MAIL).catch((error: unknown) => {
    if (!(error instanceof MailFailed)) throw error;
    const answer = error.answer === undefined ? "" : `\n${printable(error.answer)}`;
    throw new FoundWrong(`${mailer.server} did not accept a test message: ${error.message}${answer}`);
  });
  const sentTo = mailTo.filter((each) => !refused.includes(each));
  show(
    { server: mailer.server, sentTo, refused },
    `${mailer.server} accepted a test message to ${sentTo.join(", ")}\n`,
  );
  if (refused.length > 0) throw new FoundWrong(`${mailer.server} refused ${refused.join(", ")}`);
}
