import { type Agent, request } from "node:http";
import type { Server } from "./processes.ts";

const PATH = "/staging/api/third-party/v1.0.1/";

export function pathOf(operation: string): string {
  return PATH + operation;
}

export interface Call {
  readonly server: Pick<Server, "url">;
  readonly operation: string;
  readonly token: string;
  readonly body: string;
  readonly agent?: Agent;
}

/** Sends one request from the bench's own process. @returns the answer. @throws Error if it is not a success. */
export function call({ server, operation, token, body, agent }: Call): Promise<string> {
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  };
  const options = { method: "POST", headers, ...(agent === undefined ? {} : { agent }) };
  return new Promise((resolve, reject) => {
    const sent = request(server.url + pathOf(operation), options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        if (response.statusCode === 200) resolve(text);
        else reject(new Error(`${operation} was answered with ${response.statusCode}: ${text}`));
      });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
