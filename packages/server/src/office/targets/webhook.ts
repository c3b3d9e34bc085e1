import { type Static, Type } from "typebox";
import type { Partner } from "../../domain/access-token.ts";
import type { AccountKey } from "../../domain/account.ts";
import { partnerTermsSet } from "../../domain/audit.ts";
import { Refused } from "../../domain/refused.ts";
import { addressOf, type TargetConfig, webhookName } from "../../domain/target.ts";
import { isoTime } from "../../domain/wall-time.ts";
import { findWebhook, ownDeliveries } from "../../store/delivery-log.ts";
import { flag } from "../../store/rows.ts";
import { accountMeant } from "../accounts/presenter.ts";
import { ACCOUNT } from "../accounts/schemas.ts";
import { InstantSchema, orNull } from "../common.ts";
import { decide } from "../decide.ts";
import type { Office } from "../office.ts";
import { type Operation, operation, type Shown } from "../operation.ts";
import { fieldLines, printable, table } from "../text.ts";
import { addTo, changed, refuseAddress, removeTarget, rotateTargetSecret, shown } from "./operations.ts";
import { SHOWN_ONCE, stateFields } from "./presenter.ts";
import { TargetSchema } from "./schemas.ts";
import { targetNamed, updateTarget } from "./sql.ts";

/* The webhook of a partner: a target that gets the facts of one account. All commands of targets take its name. */

const WebhookSchema = Type.Object(
  {
    webhook: orNull(TargetSchema),
    deliveries: Type.Array(
      Type.Object({
        at: InstantSchema,
        id: Type.String({ description: "Id of the fact, as the partner sees it." }),
        type: Type.String(),
        attempt: Type.Integer({ description: "1 for the first attempt." }),
        status: orNull(Type.Integer({ description: "HTTP status; null if there was no answer." })),
        problem: orNull(Type.String({ description: "Why the attempt failed; null if it did not." })),
      }),
      { description: "The last 50 attempts of 7 days, newest first." },
    ),
  },
  { title: "PartnerWebhook" },
);

const SetWebhookSchema = Type.Object(
  {
    ...WebhookSchema.properties,
    secret: orNull(Type.String({ description: "Shown only once; null unless it is new." })),
  },
  { title: "SetPartnerWebhook" },
);

export const showWebhook = operation({
  tag: "Partners",
  permission: "read",
  http: "GET /partners/:name/webhook",
  summary: "Show the webhook of a partner and its last deliveries",
  input: Type.Object(ACCOUNT),
  answer: WebhookSchema,
  run: async (office, input) => webhookData(office, (await accountMeant(office.store.engine.db, input)).key),
});

export const setWebhook = operation({
  tag: "Partners",
  permission: "administer",
  http: "PUT /partners/:name/webhook",
  isSecret: true,
  refuses: ["conflict", "not_found"],
  summary: "Set the URL that gets the top-ups, reversals and account entries of a partner from now on",
  input: Type.Object({
    ...ACCOUNT,
    url: Type.Optional(Type.String({ description: "URL that receives the facts." })),
    rotate: Type.Optional(
      Type.Boolean({ description: "Replace the secret; the previous one also signs for 24 hours." }),
    ),
    remove: Type.Optional(Type.Boolean({ description: "Remove the webhook and what was not sent yet." })),
  }),
  answer: SetWebhookSchema,
  cli: [
    {
      words: "partner webhook",
      summary: "tell a partner of its top-ups, reversals and account entries by a webhook, or show the webhook",
      arguments: ["name"],
      show: webhookLines,
      examples: [
        "topupd partner webhook Bank",
        "topupd partner webhook Bank --url https://b.example/hook --environment trial",
        "topupd partner webhook Bank --rotate",
      ],
    },
  ],
  async run(office, { url, rotate = false, remove = false, ...meant }) {
    const { partner, key } = await accountMeant(office.store.engine.db, meant);
    const name = webhookName(partner.name, key.environment);
    if (Number(url !== undefined) + Number(rotate) + Number(remove) > 1)
      throw new Refused("conflict", "set the URL, the secret, or remove the webhook: one at a time");
    if ((rotate || remove) && (await findWebhook(office.store.engine.db, key)) === undefined)
      throw new Refused("not_found", `${partner.name} has no ${key.environment} webhook`);
    if (remove) await removeTarget.run(office, { name });
    const rotated = rotate ? await rotateTargetSecret.run(office, { name }) : undefined;
    const secret = url === undefined ? rotated?.secret : await setUrl(office, partner, key, url);
    return { ...(await webhookData(office, key)), secret: secret ?? null };
  },
});

/** @returns the secret of a new webhook. @throws Refused */
async function setUrl(office: Office, partner: Partner, key: AccountKey, url: string): Promise<string | undefined> {
  const config = { kind: "webhook", url } as const;
  const name = webhookName(partner.name, key.environment);
  if ((await findWebhook(office.store.engine.db, key)) === undefined)
    return (await addTo(office, { name, partner: key, config, billing: false }, "url")).secret;
  await refuseAddress(office, config, "url");
  return decide(office, "reference", async (tx) => {
    const before = await targetNamed(tx, name);
    if (JSON.stringify(before.config) === JSON.stringify(config)) return { answer: undefined };
    const onRecord = (of: TargetConfig) => ({ environment: key.environment, address: addressOf(of) ?? null });
    const audit = partnerTermsSet("partner.webhook", partner, onRecord(before.config), onRecord(config));
    // The former URL may have answered 410: that was not about this one.
    const going = before.gone ? { paused: flag(false), gone: flag(false) } : {};
    const write = () => updateTarget(tx, before, { config: JSON.stringify(config), ...going });
    return changed(undefined, write, audit);
  });
}

async function webhookData(office: Office, key: AccountKey): Promise<Static<typeof WebhookSchema>> {
  const { db } = office.store.engine;
  const target = await findWebhook(db, key);
  if (target === undefined) return { webhook: null, deliveries: [] };
  const deliveries = (await ownDeliveries(db, target.id)).map((delivery) => {
    const { id, type, attempt, status = null, problem = null } = delivery;
    return { at: isoTime(delivery.at), id, type, attempt, status, problem };
  });
  return { webhook: await shown(office, target), deliveries };
}

/** Only a secret goes to stdout, so that a shell can use it. */
function webhookLines({ webhook, deliveries, secret }: Static<typeof SetWebhookSchema>): Shown {
  if (webhook === null) return { out: "", note: "There is no webhook. Facts are not sent.\n" };
  const lines = fieldLines([
    ["name", webhook.name],
    ["address", webhook.address ?? undefined],
    ...stateFields(webhook),
  ]);
  const out = `${lines}${table(["at", "id", "type", "attempt", "status", "problem"], deliveries)}`;
  const note = `${SHOWN_ONCE} All commands of targets take the name "${printable(webhook.name)}".\n`;
  return secret === null ? { out } : { out: `${secret}\n`, note };
}

export const operations: readonly Operation[] = [showWebhook, setWebhook];
