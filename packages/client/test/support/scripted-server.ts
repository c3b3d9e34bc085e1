import { createServer, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ScriptedAnswer } from "./vectors.ts";

export interface Arrived {
  /** `POST /path`, or with GET. */
  readonly line: string;
  readonly authorization: string | undefined;
  readonly contentType: string | undefined;
  readonly body: unknown;
}

export interface ScriptedServer {
  readonly url: string;
  /** Begins a script: what arrives from now on, and the answers to it. The last one is repeated. */
  readonly begin: (answers: readonly ScriptedAnswer[]) => Arrived[];
  readonly close: () => void;
}

/** A deployment on a real socket that answers by a script, and another host: what arrives there is seen too. */
export async function scriptedServer(): Promise<ScriptedServer> {
  let [answers, arrived]: [readonly ScriptedAnswer[], Arrived[]] = [[], []];
  const answering: RequestListener = (request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
    });
    request.on("end", () => {
      const { authorization, "content-type": contentType } = request.headers;
      const answer = answers[Math.min(arrived.length, answers.length - 1)];
      const body: unknown = text === "" ? undefined : JSON.parse(text);
      arrived.push({ line: `${request.method} ${request.url}`, authorization, contentType, body });
      if (answer === undefined) request.socket.destroy();
      else give(answer, response, elsewhere.url);
    });
  };
  const [server, elsewhere] = [await listen(answering), await listen(answering)];
  return {
    url: server.url,
    begin(script) {
      [answers, arrived] = [script, []];
      return arrived;
    },
    close() {
      server.close();
      elsewhere.close();
    },
  };
}

async function listen(answering: RequestListener) {
  const server = createServer(answering);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function give(
  { way, status, headers: named, body }: ScriptedAnswer,
  response: ServerResponse,
  elsewhere: string,
): void {
  const half = body.subarray(0, body.length >> 1);
  const headers = Object.fromEntries(
    Object.entries(named).map(([name, value]) => [name, value.replace("ELSEWHERE", elsewhere)]),
  );
  switch (way) {
    case "hang":
      return;
    case "close":
      response.destroy();
      return;
    case "whole":
      response.writeHead(status, { ...headers, "content-length": body.length }).end(body);
      return;
    case "inChunks":
      response.writeHead(status, headers).write(half);
      response.end(body.subarray(half.length));
      return;
    case "half":
      response.writeHead(status, { ...headers, "content-length": body.length });
      break;
    case "halfInChunks":
      response.writeHead(status, headers);
      break;
    case "drip":
      response.writeHead(status, { ...headers, "content-length": body.length });
      drip(body, response);
      return;
  }
  response.write(half, () => response.destroy());
}

function drip(body: Buffer, response: ServerResponse): void {
  let sent = 0;
  const timer = setInterval(() => {
    response.write(body.subarray(sent, sent + 1));
    sent += 1;
  }, 100);
  response.on("close", () => clearInterval(timer));
}
