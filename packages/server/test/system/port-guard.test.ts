import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { AddressList } from "../../src/domain/address-list.ts";
import { MOST_FOR_ADDRESS, PortGuard } from "../../src/system/port-guard.ts";

const GET = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
const POST = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n";

/** A guarded server, and sockets to it from any address of this machine. */
async function startGuarded(answer: RequestListener, trustedProxies?: AddressList) {
  const guard = new PortGuard(trustedProxies);
  const server = createServer(answer).on("clientError", guard.onClientError);
  guard.watch(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return async (localAddress = "127.0.0.1") => {
    const socket = connect({ port, host: "127.0.0.1", localAddress }).on("error", () => {});
    onTestFinished(() => void socket.destroy());
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString();
    });
    const closed = once(socket, "close");
    await once(socket, "connect");
    return { socket, closed, received: () => text, statuses: () => text.match(/(?<=HTTP\/1\.1 )\d+/g) ?? [] };
  };
}

describe("a socket of a guarded port", () => {
  test("has one request in hand: of thousands in one piece the first is answered, and the socket ends", async () => {
    const answer = vi.fn<RequestListener>((_request, response) => void setTimeout(() => response.end("done"), 50));
    const open = await startGuarded(answer);
    const { socket, closed, received, statuses } = await open();
    socket.write(GET.repeat(10_000));
    await closed;
    expect(answer).toHaveBeenCalledOnce();
    expect(statuses()).toEqual(["200"]);
    expect(received()).toMatch(/connection: close[\s\S]*done/i);
  });

  test("is answered as often as it asks in turn", async () => {
    const open = await startGuarded((_request, response) => void response.end("done"));
    const { socket, statuses } = await open();
    for (let turn = 1; turn <= 3; turn += 1) {
      socket.write(GET);
      await vi.waitFor(() => expect(statuses()).toHaveLength(turn));
    }
    expect(socket.closed).toBe(false);
  });

  test("is answered after a request with an expectation that nobody knows", async () => {
    const open = await startGuarded((_request, response) => void response.end("done"));
    const { socket, statuses } = await open();
    for (let turn = 1; turn <= 2; turn += 1) {
      socket.write("GET / HTTP/1.1\r\nHost: x\r\nExpect: x\r\n\r\n");
      await vi.waitFor(() => expect(statuses()).toHaveLength(turn));
    }
    expect(statuses()).toEqual(["200", "200"]);
  });

  test("is told that it sent no HTTP", async () => {
    const open = await startGuarded((_request, response) => void response.end());
    const { socket, closed, statuses } = await open();
    socket.write("hello\r\n\r\n");
    await closed;
    expect(statuses()).toEqual(["400"]);
  });
});

describe("an address", () => {
  test("has 20 busy sockets, and others are not kept out by them", async () => {
    const answer = vi.fn<RequestListener>((request, response) => void (request.url === "/" ? 0 : response.end()));
    const open = await startGuarded(answer);
    for (let count = 0; count < MOST_FOR_ADDRESS; count += 1) (await open()).socket.write(POST);
    await vi.waitFor(() => expect(answer).toHaveBeenCalledTimes(MOST_FOR_ADDRESS));
    const [late, other] = [await open(), await open("127.0.0.2")];
    await late.closed;
    other.socket.write("GET /other HTTP/1.1\r\nHost: x\r\n\r\n");
    await vi.waitFor(() => expect(other.statuses()).toEqual(["200"]));
  });

  test("loses its oldest idle socket to a new one", async () => {
    const open = await startGuarded((_request, response) => void response.end());
    const oldest = await open();
    const others: Awaited<ReturnType<typeof open>>[] = [];
    for (let count = 0; count < MOST_FOR_ADDRESS; count += 1) others.push(await open());
    await oldest.closed;
    for (const { socket } of others) socket.write(GET);
    await vi.waitFor(() => expect(others.every(({ statuses }) => statuses()[0] === "200")).toBe(true));
  });

  test("behind a trusted proxy has 20 requests in hand, and others are not kept out by them", async () => {
    const answer = vi.fn<RequestListener>((request, response) => void (request.url === "/" ? 0 : response.end()));
    const open = await startGuarded(answer, new AddressList(["127.0.0.1"]));
    const ask = async (address: string, path: string) => {
      const opened = await open();
      opened.socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\n\r\n`);
      return opened;
    };
    const held = [];
    for (let count = 0; count < MOST_FOR_ADDRESS; count += 1)
      held.push(await ask(`[2001:db8::${count}]:${50_000 + count}`, "/"));
    await vi.waitFor(() => expect(answer).toHaveBeenCalledTimes(MOST_FOR_ADDRESS));
    const late = await ask("2001:db8::ffff", "/late");
    await late.closed;
    expect(late.statuses()).toEqual(["429"]);
    const other = await ask("2001:db8:0:1::1", "/other");
    await vi.waitFor(() => expect(other.statuses()).toEqual(["200"]));
    held[0]?.socket.destroy();
    await vi.waitFor(async () => {
      const again = await ask("2001:db8::ffff", "/again");
      await vi.waitFor(() => expect(again.statuses()).toEqual(["200"]));
    });
  });
});
