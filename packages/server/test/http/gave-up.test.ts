import type { Socket } from "node:net";
import { expect, test, vi } from "vitest";
import { type Instead, interposed } from "../support/interposed-store.ts";
import { startMeasuredService } from "../support/measured-service.ts";
import { openSocket, requestText } from "../support/raw-socket.ts";

/** A service whose look-ups wait until the test releases them, and a socket to send requests. */
async function startHeldService() {
  let [release, ask] = [() => {}, () => {}];
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const asked = new Promise<void>((resolve) => {
    ask = resolve;
  });
  const lookUpLater: Instead = async (lookUp, args) => {
    ask();
    await held;
    return lookUp(...args);
  };
  const wrapStore = interposed(new Map([["lookUpCustomers", lookUpLater]]));
  const { service, read } = await startMeasuredService({ wrapStore });
  /** Resolves when the service knows that the caller sends nothing more. */
  const heard = new Promise<void>((resolve) => {
    service.app.server.once("connection", (theirs: Socket) =>
      theirs.once("end", resolve).once("close", () => resolve()),
    );
  });
  const opened = await openSocket(service, { allowHalfOpen: true });
  const request = requestText(service, "get-customer-information", { code: "1000001" });
  /** Waits for so many look-ups in the log. @returns status and outcome of each. */
  const lines = (count: number) =>
    vi.waitFor(() => {
      const found = service.logs.filter((line) => line.includes("get-customer-information"));
      expect(found.length).toBeGreaterThanOrEqual(count);
      return found.map((line) => JSON.parse(line)).map(({ status, outcome }) => [status, outcome]);
    }, 5_000);
  const counts = async () => {
    const { samples } = await read();
    return samples("topupd_requests_total").map(({ labels, value }) => [labels["outcome"], value]);
  };
  return { ...opened, service, request, asked, heard, release, lines, counts };
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
  const { socket, received, closed, request, asked, heard, release, lines } = await startHeldService();
  socket.end(request.repeat(3));
  await asked;
  await heard;
  release();
  await closed;

  expect(received().match(/HTTP\/1\.1 200 /g)).toHaveLength(3);
  expect(received().match(/"code":"400aa010"/g)).toHaveLength(3);
  // The service cannot know whether the caller still reads.
  expect(await lines(3)).toEqual(Array.from({ length: 3 }, () => [undefined, "gave_up"]));
});
