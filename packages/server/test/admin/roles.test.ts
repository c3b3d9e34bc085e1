import { expect, test } from "vitest";
import { ROLES } from "../../src/domain/authority.ts";
import { allowedTo, PERMISSIONS } from "../../src/domain/staff.ts";
import type { Route } from "../../src/faces/staff-api/route.ts";
import { ROUTES } from "../../src/faces/staff-api/routes.ts";
import { startStaffApi } from "../support/staff-api.ts";

/** A request to a route that changes nothing where it is let in: it lacks a body, or names what is not there. */
function requestTo({ method, path }: Route): string {
  return `${method} ${path.replace(/:\w+/g, "0")}`;
}

const isRefused = ({ status }: { readonly status: number }) => status === 401 || status === 403;

test("every route lets in those whose role may, and nobody else", async () => {
  const api = await startStaffApi();
  const sessions = new Map<string, string>();
  for (const role of ROLES) {
    await api.addPerson(role, role);
    sessions.set(role, await api.logIn(role));
  }
  expect(ROUTES.length).toBeGreaterThan(30);
  for (const route of ROUTES) {
    const asked = requestTo(route);
    const { permission, asksPassword } = route;
    const stranger = await api.call(asked, { as: null });
    const authorization = `Bearer ${api.service.liveToken}`;
    const partner = await api.call(asked, { as: null, headers: { authorization } });
    if (permission === "public") {
      expect(isRefused(stranger), asked).toBe(false);
      continue;
    }
    for (const answer of [stranger, partner])
      expect([answer.status, answer.json.code], asked).toEqual([401, "not_logged_in"]);
    if (permission === "target") {
      const session = sessions.get("admin") ?? "";
      for (const as of ["admin", { session }] as const) expect((await api.call(asked, { as })).status).toBe(401);
      continue;
    }
    for (const role of ROLES) {
      // What people may do with their own session may end it.
      const session = permission === "person" ? await api.logIn(role) : (sessions.get(role) ?? "");
      const bySession = await api.call(asked, { as: { session } });
      const byKey = await api.call(asked, { as: role });
      const isForAll = permission === "person" || permission === "caller";
      const may = isForAll || PERMISSIONS[role].includes(permission);
      const keyMay = permission !== "person" && asksPassword !== true && may;
      expect(isRefused(bySession), `${asked} by the role ${role}: ${bySession.text}`).toBe(!may);
      expect(isRefused(byKey), `${asked} by a key of ${role}: ${byKey.text}`).toBe(!keyMay);
      if (!may) expect(bySession.json.code).toBe("forbidden");
      if (!keyMay) expect(byKey.json.code).toBe(may ? "sessions_only" : "forbidden");
    }
  }
});

/** The routes that need more than the permission to read, by the permission. */
const NEEDED: Readonly<Partial<Record<Route["permission"], readonly string[]>>> = {
  correct: [
    "POST /customers/:cuid/notes",
    "POST /customers/:cuid/goodwill",
    "POST /customers/:cuid/goodwill-reversal",
    "POST /customers/:cuid/block",
    "POST /transactions/:id/reversal",
    "GET /bulk/limits",
    "POST /bulk",
    "POST /bulk/:id/reversal",
    "POST /bulk/:id/start",
    "POST /bulk/:id/pause",
    "POST /bulk/:id/continue",
    "POST /bulk/:id/cancel",
    "POST /customers/:cuid/resend",
  ],
  settle: [
    "POST /partners/:name/account/entries",
    "GET /partners/:name/account/entries",
    "GET /partners/:name/statement",
    "GET /partners/:name/statement.csv",
    "GET /settlement",
    "GET /settlement.csv",
    "POST /reconciliations",
    "GET /shifts",
    "GET /shifts.csv",
  ],
  person: [
    "DELETE /session",
    "GET /session/all",
    "DELETE /session/all/:id",
    "PUT /session/password",
    "POST /session/totp",
    "PUT /session/totp",
    "DELETE /session/totp",
  ],
  caller: ["GET /session"],
  public: ["GET /session/ways", "POST /session", "POST /setup/admin"],
  target: ["POST /confirmations"],
};
/** What admins alone may read: the first settings, who works here, and the keys of systems. */
const READ_BY_ADMINS = ["GET /setup", "GET /staff", "GET /roles", "GET /staff-keys"];
/** Each of these asks for the permission of what it decides, or changes nothing. */
const SENT_BY_READERS = ["POST /approvals/:id/confirm", "POST /approvals/:id/refuse", "POST /audit/verification"];

test("every route needs the permission for its work: only admins change what is not named here", () => {
  const named = new Map(
    Object.entries(NEEDED).flatMap(([permission, routes]) => routes.map((each) => [each, permission])),
  );
  for (const { method, path, permission } of ROUTES) {
    const asked = `${method} ${path}`;
    const isRead = method === "GET" ? !READ_BY_ADMINS.includes(asked) : SENT_BY_READERS.includes(asked);
    expect(permission, asked).toBe(named.get(asked) ?? (isRead ? "read" : "administer"));
    named.delete(asked);
  }
  expect([...named.keys()]).toEqual([]);
});

test("each role may what is said of it", () => {
  expect(PERMISSIONS).toEqual({
    viewer: ["read"],
    support: ["read", "correct"],
    finance: ["read", "settle"],
    admin: ["read", "correct", "settle", "administer"],
    seller: ["sell"],
  });
  expect(ROLES.filter((role) => allowedTo(role).includes("enter deposits"))).toEqual(["finance", "admin"]);
  expect(allowedTo("viewer")).toMatch(/^Read customers, .* and the audit trail\.$/);
});
