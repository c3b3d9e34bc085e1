import { CODE } from "./fake-data.ts";
import type { FakeOptions } from "./fake-provider.ts";
import { LOOK_UP, type Mutant, on, onConnections } from "./mutant.ts";

/** What breaks the interface in a look-up. */
export const LOOK_UP_MUTANTS: readonly Mutant[] = [
  {
    name: "a look-up with the code of a top-up",
    caught: ["lookup-code"],
    change: on(LOOK_UP, (json) => {
      json.code = "400ab001";
    }),
  },
  {
    name: "a look-up with success as a string",
    caught: ["lookup-success"],
    change: on(LOOK_UP, (json) => {
      json.success = "true";
    }),
  },
  {
    name: "a look-up without success",
    caught: ["lookup-success"],
    change: on(LOOK_UP, (json) => {
      delete json.success;
    }),
  },
  {
    name: "a look-up whose body is an array",
    caught: ["lookup-body"],
    change: on(LOOK_UP, (json) => {
      json.body = [json.body];
    }),
  },
  {
    name: "a look-up that is an array",
    caught: ["lookup-json"],
    change: {
      rewrite: (answer, { operation }) => {
        if (operation === LOOK_UP) answer.json = [answer.json];
      },
    },
  },
  {
    name: "a look-up that fails",
    caught: ["lookup-success"],
    change: on(LOOK_UP, (json) => {
      json.success = false;
    }),
  },
  {
    name: "a body without customer",
    caught: ["customer-object"],
    change: on(LOOK_UP, ({ body }, { version }) => {
      if (version === "v1.0.0") delete body.customer;
    }),
    only: "v1.0.0",
  },
  {
    name: "a cuid that is a number",
    caught: ["customer-cuid"],
    change: on(LOOK_UP, ({ body }) => {
      body.customer.cuid = Number(body.customer.cuid);
    }),
  },
  {
    name: "a last_name that is null",
    caught: ["customer-names"],
    change: on(LOOK_UP, ({ body }) => {
      body.customer.last_name = null;
    }),
  },
  {
    name: "firstName for first_name",
    caught: ["customer-names"],
    change: on(LOOK_UP, ({ body: { customer } }) => {
      customer.firstName = customer.first_name;
      delete customer.first_name;
    }),
  },
  {
    name: "a customer status that is a boolean",
    caught: ["customer-status"],
    change: on(LOOK_UP, ({ body }) => {
      body.customer.status = true;
    }),
  },
  {
    name: "connections beside the customer in v1.0.1",
    caught: ["connections-place"],
    only: "v1.0.1",
    change: on(LOOK_UP, ({ body }, { version }) => {
      if (version === "v1.0.1") {
        body.connections = body.customer.connections;
        delete body.customer.connections;
      }
    }),
  },
  {
    name: "connections inside the customer in v1.0.0",
    caught: ["connections-place"],
    only: "v1.0.0",
    change: on(LOOK_UP, ({ body }, { version }) => {
      if (version === "v1.0.0") {
        body.customer.connections = body.connection;
        delete body.connection;
      }
    }),
  },
  {
    name: "connections for connection in v1.0.0",
    caught: ["connections-place"],
    only: "v1.0.0",
    change: on(LOOK_UP, ({ body }, { version }) => {
      if (version === "v1.0.0") {
        body.connections = body.connection;
        delete body.connection;
      }
    }),
  },
  {
    name: "an empty connection in v1.0.0, and all in the customer",
    caught: ["connections-arrays"],
    only: "v1.0.0",
    change: on(LOOK_UP, ({ body }, { version }) => {
      if (version !== "v1.0.0") return;
      body.customer.connections = body.connection;
      body.connection = {};
    }),
  },
  {
    name: "another code in look-ups by username",
    caught: ["lookup-code"],
    change: on(LOOK_UP, (json, { fields }) => {
      if (fields["code"] === "maya.net") json.code = 7;
    }),
  },
  {
    name: "no connections in look-ups by set-top box",
    caught: ["connections-place"],
    change: on(LOOK_UP, ({ body }, { fields }) => {
      if (fields["code"] !== "000700000000011") return;
      delete body.customer.connections;
      delete body.connection;
    }),
  },
  {
    name: "no first_name in look-ups by username",
    caught: ["customer-names"],
    change: on(LOOK_UP, ({ body }, { fields }) => {
      if (fields["code"] === "maya.net") delete body.customer.first_name;
    }),
  },
  {
    name: "no key iptv",
    caught: ["connections-arrays"],
    change: onConnections((connections) => {
      delete connections.iptv;
    }),
  },
  {
    name: "an iptv that is null",
    caught: ["connections-arrays"],
    change: onConnections((connections) => {
      connections.iptv = null;
    }),
  },
  {
    name: "stb for username",
    caught: ["internet-items"],
    change: onConnections(({ internet }) => {
      internet[0] = { stb: internet[0].username, status: "active" };
    }),
  },
  {
    name: "an stb that is a number",
    caught: ["tv-items"],
    change: onConnections(({ tv }) => {
      tv[1].stb = 12;
    }),
  },
  {
    name: "no status of a set-top box",
    caught: ["tv-items"],
    change: onConnections(({ tv }) => {
      delete tv[1].status;
    }),
  },
  {
    name: "no look-up by set-top box",
    caught: ["lookup-by-stb"],
    change: {
      rewrite: (answer, { operation, fields }) => {
        if (operation === LOOK_UP && fields["code"] === "000700000000011")
          answer.json = { success: false, code: "E", body: {} };
      },
    },
    only: "v1.0.1",
  },
  {
    name: "no look-up by username",
    caught: ["lookup-by-username"],
    change: {
      rewrite: (answer, { operation, fields }) => {
        if (operation === LOOK_UP && fields["code"] === "maya.net")
          answer.json = { success: false, code: "E", body: {} };
      },
    },
  },
  {
    name: "a stranger for a username",
    caught: ["lookup-by-username"],
    change: on(LOOK_UP, ({ body }, { fields }) => {
      if (fields["code"] === "maya.net") body.customer.cuid = "4400018";
    }),
  },
  {
    name: "a look-up by the customer id that fails",
    caught: ["lookup-by-cuid"],
    // Only its second look-up: the first one is by the same code.
    change: () => failSecondOf(LOOK_UP, CODE),
  },
];

function failSecondOf(operation: string, code: string): FakeOptions {
  const seen = new Set<string>();
  return {
    rewrite: (answer, request) => {
      if (request.operation !== operation || request.fields["code"] !== code || !request.isAuthorized) return;
      if (seen.has(request.version)) answer.json = { success: false, code: "E", body: {} };
      seen.add(request.version);
    },
  };
}
