import type { RadiusDifference } from "../../domain/radius.ts";
import type { RadiusConfig, Sender, Target } from "../../domain/target.ts";
import type { Ports } from "../../store/ports.ts";
import type { ProviderSettings } from "../../store/store.ts";

/** What each kind of target needs of the world outside. */
export interface TargetTools {
  /** Why a webhook cannot have this URL, worded to follow the name of the field; undefined if it can. */
  refuseUrl(url: string, allowPrivate: boolean): Promise<string | undefined>;
  /** Makes the secret of a webhook. */
  newSecret(): Promise<string>;
  createSender(target: Target, provider: ProviderSettings): Sender;
  /**
   * Compares what RADIUS has with the records. Corrects what differs, but not in a preview.
   * @throws DeliveryFailed if the RADIUS database fails.
   */
  reconcileRadius(
    ports: Pick<Ports, "store" | "clock">,
    config: RadiusConfig,
    request: { readonly isPreview: boolean },
    onDifference: (difference: RadiusDifference) => void,
  ): Promise<RadiusCounts>;
}

export interface RadiusCounts {
  /** Users. */
  readonly compared: number;
  /** Users with a difference. */
  readonly differing: number;
}
