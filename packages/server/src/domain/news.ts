import type { AccountKey } from "./account.ts";
import type { DueKind } from "./event.ts";
import { type Fact, factSubject, type PartnersFact } from "./subject.ts";
import type { Target } from "./target.ts";
import type { Instant } from "./wall-time.ts";

/* What a change makes due at targets. Each is told of its state at sending, so that news have no content of their own. */

export interface News {
  readonly about: PartnersFact;
  readonly kind: DueKind;
  readonly at: Instant;
}

/** The part of a target that decides of what it is told. */
export type Taker = Pick<Target, "id" | "partner">;

/** A change of a subject, with the targets that are told of it. */
export interface ToldChange {
  /** Text of domain/subject.ts. */
  readonly subject: string;
  /** The customer of a connection; undefined for facts. */
  readonly cuid: string | undefined;
  readonly kind: DueKind;
  readonly at: Instant;
  /** Numbers of targets. */
  readonly targets: readonly number[];
}

/** @returns nothing if no target is told. */
export function toldChange({ about, kind, at }: News, takers: readonly Taker[]): ToldChange[] {
  const targets = takers.filter((taker) => takes(taker, about)).map(({ id }) => id);
  return targets.length === 0 ? [] : [{ subject: factSubject(about), cuid: undefined, kind, at, targets }];
}

/** Whether a target is told of a fact: a partner's webhook of those of its account. */
export function takes({ partner }: Pick<Taker, "partner">, fact: Fact): boolean {
  return "partnerId" in fact && partner !== undefined && isSameAccount(partner, fact);
}

function isSameAccount(one: AccountKey, other: AccountKey): boolean {
  return one.partnerId === other.partnerId && one.environment === other.environment;
}

/** The account that the news are about: only its webhook is told, of all webhooks of partners. */
export function accountOf({ about: { partnerId, environment } }: News): AccountKey {
  return { partnerId, environment };
}
