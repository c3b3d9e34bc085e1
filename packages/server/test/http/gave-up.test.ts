import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { type Instead, interposed } from "../support/interposed-store.ts";
import { startMeasuredService } from "../support/measured-service.ts";
import { PREFIX } from "../support/service.ts";

/** A service in which every look-up waits until it is released, and a socket on which requests are sent to it. */
async function startHeldService() {
  let [release, ask] = [() => {}, () => {}];
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const asked = new Promise<void>((resolve) => {
    ask = resolve;
  });
  const instead = new Map<string, Instead>([
    [
      "lookUpCustomers",
      async (lookUp, args) => {
        ask();
        await held;
        return lookUp(...args);
      },
    ],
  ]);
  const { service, read } = await startMeasuredService({ wrapStore: interposed(instead) });
  await service.app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = service.app.server.address() as { port: number };
  /** Once the service has heard that nothing more is sent. */
  const heard = new Promise<void>((resolve) => {
    service.app.server.once("connection", (theirs: Socket) =>
      theirs.once("end", resolve).once("close", () => resolve()),
    );
  });
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  const body = '{"code":"1000001"}';
  const request =
    `POST ${PREFIX}/v1.0.1/get-customer-information HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.trialToken}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  /** Status and outcome of every look-up in the log, once there are as many. */
  const lines = async (count: number) => {
    const found = () => service.logs.filter((line) => line.includes("get-customer-information"));
    for (let turn = 0; found().length < count && turn < 1_000; turn += 1)
      await new Promise((resolve) => setTimeout(resolve, 5));
    return found()
      .map((line) => JSON.parse(line))
      .map(({ status, outcome }) => [status, outcome]);
  };
  const counts = async () => {
    const { samples } = await read();
    return samples("topupd_requests_total").map(({ labels, value }) => [labels["outcome"], value]);
  };
  return { service, socket, request, asked, heard, release, lines, counts };
}

test.each([
  ["closed its connection", (socket: Socket) => socket.destroy()],
  ["reset its connection", (socket: Socket) => socket.resetAndDestroy()],
])("a request whose caller has %s before the answer is logged and counted as given up, once", async (_, leave) => {
  const { service, socket, request, asked, heard, release, lines, counts } = await startHeldService();
  socket.write(request);
  await asked;
  leave(socket);
  await heard;
  release();
  await lines(1);
  await service.call("get-customer-information", { code: "nobody" });

  expect(await lines(2)).toEqual([
    [undefined, "gave_up"],
    [404, "customer_not_found"],
  ]);
  expect(await counts()).toEqual([
    ["gave_up", 1],
    ["customer_not_found", 1],
  ]);
});

test("a caller that has closed its own direction gets the answers to all that it sent, and then the end", async () => {
  const { socket, request, asked, heard, release, lines } = await startHeldService();
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk.toString();
  });
  socket.end(request.repeat(3));
  await asked;
  await heard;
  release();
  await once(socket, "end");

  expect(received.match(/HTTP\/1\.1 200 /g)).toHaveLength(3);
  expect(received.match(/"code":"400aa010"/g)).toHaveLength(3);
  // Whether anybody was there to read, the service cannot know.
  expect(await lines(3)).toEqual(Array.from({ length: 3 }, () => [undefined, "gave_up"]));
});
