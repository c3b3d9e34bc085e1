import { mustBe } from "./setting-values.ts";

/** Settings of the mail server for alerts, a part of the table of settings. */
export const MAIL_SETTINGS = {
  mail: {
    placeholder: "URL",
    description:
      "mail server for alerts, smtp://USER:PASSWORD@HOST:PORT or smtps://, better given as a variable; if not set, no mail is sent",
    read: readMailServer,
  },
  mailFrom: { placeholder: "ADDRESS", description: "sender of mails", read: readMailAddress },
  mailTo: {
    placeholder: "LIST",
    description: "recipients of alerts, separated by commas",
    read: (text: string) => text.split(",").map((each) => readMailAddress(each.trim())),
  },
};

export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** Whether the connection begins with TLS. */
  readonly secure: boolean;
  /** Undefined if the server asks for no log-in. */
  readonly logIn: { readonly user: string; readonly pass: string } | undefined;
}

type MailConfig = Readonly<Record<keyof typeof MAIL_SETTINGS, unknown>>;

/** @returns undefined if the settings fit each other. */
export function problemOfMail({ mail, mailFrom, mailTo }: MailConfig): string | undefined {
  const given = [mail, mailFrom, mailTo].filter((each) => each !== undefined).length;
  return given === 0 || given === 3 ? undefined : "--mail, --mail-from and --mail-to need each other: set all, or none";
}

const USUAL_PORTS = { "smtp:": 587, "smtps:": 465 };

function readMailServer(text: string): MailServer {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const usual = USUAL_PORTS[url?.protocol as keyof typeof USUAL_PORTS];
  if (url !== undefined && usual !== undefined && /^\/?$/.test(url.pathname + url.search + url.hash)) {
    const { protocol, hostname, port } = url;
    const [user, pass] = [decoded(url.username), decoded(url.password)];
    if (hostname !== "" && user !== undefined && pass !== undefined && (user === "") === (pass === "")) {
      const logIn = user === "" ? undefined : { user, pass };
      return { host: hostname, port: Number(port || usual), secure: protocol === "smtps:", logIn };
    }
  }
  return mustBe("smtp:// or smtps:// and a server, such as smtp://USER:PASSWORD@mail.provider.example:587");
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function readMailAddress(text: string): string {
  return /^[^\s@<>,;:"()\\]{1,64}@[A-Za-z0-9.-]{1,190}$/.test(text)
    ? text
    : mustBe("a mail address such as alerts@provider.example");
}
