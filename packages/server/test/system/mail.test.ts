import { describe, expect, test } from "vitest";
import { readConfig } from "../../src/config.ts";
import { TEST_MAIL } from "../../src/domain/mail.ts";
import { mailerOf } from "../../src/system/mail.ts";
import { MONDAY, officeLine } from "../support/office-line.ts";
import { type SmtpServer, smtpServer } from "../support/smtp-server.ts";

const FROM = "topupd@provider.example";
const TO = "alerts@provider.example, night@provider.example";
const PASSWORD = "s3cret-pass";

const settingsOf = (url: string) => ({ TOPUPD_MAIL: url, TOPUPD_MAIL_FROM: FROM, TOPUPD_MAIL_TO: TO });
const check = (url: string, ...words: readonly string[]) =>
  officeLine({ env: settingsOf(url) }).run("check", "mail", ...words);
const urlOf = ({ port }: SmtpServer, host = "127.0.0.1", logIn = "") => `smtp://${logIn}${host}:${port}`;

describe("topupd check mail", () => {
  test("sends a message to all recipients, with a log-in, and says so", async () => {
    const server = await smtpServer();
    const said = await check(urlOf(server, "127.0.0.1", `ravi%40example:${PASSWORD}@`));
    const sentTo = "alerts@provider.example, night@provider.example";
    expect(said).toEqual({
      code: 0,
      stdout: `127.0.0.1:${server.port} accepted a test message to ${sentTo}\n`,
      stderr: "",
    });
    expect(server.mails).toHaveLength(1);
    expect(server.mails[0]).toContain(`From: topupd <${FROM}>\nTo: ${TO}\nSubject: ${TEST_MAIL.subject}`);
    expect(server.mails[0]).toMatch(
      /^Auto-Submitted: auto-generated\n[\s\S]*\nDate: Mon, 23 Nov 2026 09:00:00 \+0000\n/,
    );
    const logIn = Buffer.from(`\0ravi@example\0${PASSWORD}`).toString("base64");
    expect(server.commands).toContain(`AUTH PLAIN ${logIn}`);
  });

  test("says in plain words why a message was not sent, with exit code 3 and without the password", async () => {
    const server = await smtpServer();
    const withLogIn = urlOf(server, "127.0.0.1", `ravi:${PASSWORD}@`);
    const cases: readonly (readonly [answers: SmtpServer["answers"], said: string])[] = [
      [{ AUTH: "535 no\u001b such user" }, "it refused the user name or password (535)\n535 no\ufffd such user"],
      [{ "MAIL FROM": "550 who are you" }, "it refused the sender (550)\n550 who are you"],
      [{ "RCPT TO": "550 nobody" }, "it refused all recipients (550)\n550 nobody"],
      [{ DATA: "554 not today" }, "it did not accept the mail (554)\n554 not today"],
    ];
    for (const [answers, said] of cases) {
      server.answers = answers;
      expect(await check(withLogIn)).toEqual({
        code: 3,
        stdout: "",
        stderr: `topupd: 127.0.0.1:${server.port} did not accept a test message: ${said}\n`,
      });
    }
    expect(server.mails).toEqual([]);
    expect(await check("smtp://127.0.0.1:1")).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("connections to it are refused (ECONNREFUSED)"),
    });
    // Too long for a host, so that no name server is asked.
    expect(await check(`smtp://${"x".repeat(64)}`)).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/^topupd: x+:587 .*its host has no address/),
    });
  });

  test("names the recipients that were refused while others were accepted", async () => {
    const server = await smtpServer({ "RCPT TO:<night": "550 nobody" });
    expect(await check(urlOf(server), "--json")).toEqual({
      code: 3,
      stdout: `{"server":"127.0.0.1:${server.port}","sentTo":["alerts@provider.example"],"refused":["night@provider.example"]}\n`,
      stderr: `topupd: 127.0.0.1:${server.port} refused night@provider.example\n`,
    });
  });

  test("needs the settings of a mail server, all three", async () => {
    const wrong = (stderr: string) => ({ code: 2, stdout: "", stderr: `topupd: ${stderr}\n` });
    const none = "no mail server is set: set --mail, --mail-from and --mail-to";
    expect(await officeLine().run("check", "mail")).toEqual(wrong(none));
    const half = "--mail, --mail-from and --mail-to need each other: set all, or none";
    for (const name of ["TOPUPD_MAIL", "TOPUPD_MAIL_FROM", "TOPUPD_MAIL_TO"] as const) {
      const { [name]: _, ...env } = settingsOf("smtp://mail.example");
      expect(await officeLine({ env }).run("check", "mail")).toEqual(wrong(half));
    }
  });
});

test("a password is never sent to another machine without TLS", async () => {
  const server = await smtpServer({ STARTTLS: "502 what is that" });
  const { code, stderr } = await check(urlOf(server, "[::ffff:127.0.0.1]", `ravi:${PASSWORD}@`));
  expect({ code, stderr }).toMatchObject({ code: 3, stderr: expect.stringContaining("TLS is not possible (502)") });
  expect(server.commands.join()).not.toContain("AUTH");
  // A connection without a password has nothing to protect.
  expect(await check(urlOf(server, "[::ffff:127.0.0.1]"))).toMatchObject({ code: 0 });
});

test("a mail server that does not answer is given up, also at a signal", async () => {
  const server = await smtpServer({ EHLO: "250-more" });
  const config = readConfig(settingsOf(urlOf(server)), {});
  const clock = () => MONDAY;
  await expect(mailerOf(config, { clock, limitMs: 50 })?.send(TEST_MAIL)).rejects.toThrow("it does not answer in time");
  const stopping = AbortSignal.abort();
  await expect(mailerOf(config, { clock })?.send(TEST_MAIL, stopping)).rejects.toThrow("the sending was interrupted");
});

test("the address of a mail server has usual ports, and its log-in is percent-decoded", () => {
  const read = (url: string) => readConfig(settingsOf(url), {}).mail;
  expect(read("smtp://mail.example")).toEqual({ host: "mail.example", port: 587, secure: false, logIn: undefined });
  expect(read("smtps://a%3Ab:p%2F%40w@mail.example/")).toEqual({
    ...{ host: "mail.example", port: 465, secure: true, logIn: { user: "a:b", pass: "p/@w" } },
  });
});
