import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A mail server on the loopback that keeps every mail, without TLS. */
export interface SmtpServer {
  readonly port: number;
  /** The mails that it accepted, with their headers. */
  readonly mails: string[];
  /** All commands that it got. */
  readonly commands: string[];
  /** Answers by the beginning of a command, in place of those that accept everything. */
  answers: Readonly<Record<string, string>>;
}

const USUAL: Readonly<Record<string, string>> = {
  EHLO: "250-here\r\n250 AUTH PLAIN",
  AUTH: "235 welcome",
  DATA: "354 go on",
};

export async function smtpServer(answers: SmtpServer["answers"] = {}): Promise<SmtpServer> {
  const sockets = new Set<Socket>();
  const listener = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    serve(socket, server);
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    listener.close();
  });
  const server: SmtpServer = { port: (listener.address() as AddressInfo).port, mails: [], commands: [], answers };
  return server;
}

function serve(socket: Socket, server: SmtpServer): void {
  let [rest, mail]: [string, string[] | undefined] = ["", undefined];
  const answer = (line: string) => {
    const all = { ...USUAL, ...server.answers };
    const known = Object.keys(all).filter((start) => line.startsWith(start));
    const said = all[known.at(-1) ?? ""] ?? "250 fine";
    if (said.startsWith("354")) mail = [];
    socket.write(`${said}\r\n`);
  };
  socket.write("220 here\r\n");
  socket.on("data", (bytes) => {
    const lines = (rest + bytes.toString()).split("\r\n");
    rest = lines.pop() ?? "";
    for (const line of lines)
      if (mail === undefined) {
        server.commands.push(line);
        answer(line);
      } else if (line === ".") {
        server.mails.push(mail.join("\n"));
        mail = undefined;
        socket.write("250 kept\r\n");
      } else mail.push(line);
  });
}
