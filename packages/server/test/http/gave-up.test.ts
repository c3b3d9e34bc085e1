import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import type { Store } from "../../src/store/store.ts";
import { startMeasuredService } from "../support/measured-service.ts";
import { PREFIX } from "../support/service.ts";

test("a request whose caller has left before the answer is logged and counted as given up, once", async () => {
  let [release, ask] = [() => {}, () => {}];
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const asked = new Promise<void>((resolve) => {
    ask = resolve;
  });
  const { service, read } = await startMeasuredService({
    wrapStore: (store) =>
      new Proxy(store, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name, target);
          if (name !== "lookUpCustomers") return typeof value === "function" ? value.bind(target) : value;
          return async (...args: Parameters<Store["lookUpCustomers"]>) => {
            ask();
            await held;
            return target.lookUpCustomers(...args);
          };
        },
      }),
  });
  await service.app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = service.app.server.address() as { port: number };
  const socket = connect(port, "127.0.0.1");
  const body = '{"code":"1000001"}';
  socket.write(
    `POST ${PREFIX}/v1.0.1/get-customer-information HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.trialToken}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await asked;
  socket.destroy();
  await once(socket, "close");
  const lines = () => service.logs.filter((line) => line.includes("get-customer-information"));
  for (let turn = 0; lines().length === 0 && turn < 1_000; turn += 1)
    await new Promise((resolve) => setTimeout(resolve, 5));
  release();
  await service.call("get-customer-information", { code: "nobody" });

  expect(
    lines()
      .map((line) => JSON.parse(line))
      .map(({ status, outcome }) => [status, outcome]),
  ).toEqual([
    [undefined, "gave_up"],
    [404, "customer_not_found"],
  ]);
  const { samples } = await read();
  const counts = samples("topupd_requests_total").map(({ labels, value }) => [labels["outcome"], value]);
  expect(counts).toEqual([
    ["gave_up", 1],
    ["customer_not_found", 1],
  ]);
});
