import { buildProgram } from "../packages/server/src/faces/cli/program.ts";
import type { Runtime } from "../packages/server/src/faces/cli/runtime.ts";
import { VERSION } from "./lock.ts";

type Command = Awaited<ReturnType<typeof buildProgram>>;

/** The manual page topupd(1), made from the commands themselves. */
export async function manual(epoch: number): Promise<string> {
  const program = await buildProgram({ version: VERSION, stdout: () => {}, stderr: () => {} } as unknown as Runtime);
  const date = new Date(epoch * 1000).toISOString().slice(0, 10);
  return [
    `.TH TOPUPD 1 ${date} "topupd ${VERSION}"`,
    ".SH NAME",
    "topupd \\- top\\-up service for providers of TV, internet and IPTV",
    ".SH SYNOPSIS",
    ".B topupd",
    ".I COMMAND",
    "[\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]",
    ".SH DESCRIPTION",
    plain(`${program.description()}.`),
    ".PP",
    "Run commands with sudo: they run as the user topupd, with the settings of the service.",
    ".SH COMMANDS",
    ...program.commands.flatMap((command) => section(command, "topupd")),
    ".SH FILES",
    ...entry("/etc/topupd/topupd.env", "Settings of the service and of commands. Changes need a restart."),
    ...entry("/var/lib/topupd", "The SQLite database."),
    ".SH EXIT STATUS",
    ...entry("0", "Done."),
    ...entry("1", "Failed."),
    ...entry("2", "Wrong usage or settings."),
    ...entry("3", "Something was found, or needs attention."),
    ".SH SEE ALSO",
    ".BR systemctl (1),",
    ".BR journalctl (1)",
    "",
  ].join("\n");
}

function section(command: Command, parent: string): string[] {
  const name = `${parent} ${command.name()}`;
  const children = command.commands.flatMap((child) => section(child, name));
  const isGroup = command.commands.length > 0 && command.options.length === 0;
  if (isGroup) return children;
  const help = command.createHelp();
  const usage = command.registeredArguments.map((argument) => help.argumentTerm(argument));
  const terms = command.registeredArguments.map(({ required, variadic }, at) => {
    const term = `${usage[at]}${variadic ? "..." : ""}`;
    return required ? `<${term}>` : `[${term}]`;
  });
  return [
    `.SS ${quoted([name, ...terms].join(" "))}`,
    plain(command.description()),
    ...command.registeredArguments.flatMap((argument, at) =>
      entry(usage[at] ?? "", help.argumentDescription(argument)),
    ),
    ...help
      .visibleOptions(command)
      .filter(({ long }) => long !== "--help")
      .flatMap((option) => entry(help.optionTerm(option), help.optionDescription(option))),
    ...children,
  ];
}

function entry(term: string, text: string): string[] {
  return [".TP", `.B ${quoted(term)}`, plain(text)].filter((line) => line !== "");
}

/** A text that troff prints as it is. */
function plain(text: string): string {
  const escaped = text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replaceAll("'", "\\(aq").replaceAll("`", "\\(ga");
  return escaped.replace(/\s+/g, " ").replace(/^(?=\.)/, "\\&");
}

function quoted(text: string): string {
  return `"${plain(text).replaceAll('"', "\\(dq")}"`;
}
