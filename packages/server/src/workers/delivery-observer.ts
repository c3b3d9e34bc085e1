/** Counts deliveries. Must be quick and must not throw. */
export interface DeliveryObserver {
  /** @param target its name. */
  readonly deliveryEnded: (target: string, outcome: DeliveryOutcome) => void;
  /** Called when a target has applied an event, as far as is known, and sessions that had to end have ended. @param ms since the event. */
  readonly stepEnded: (target: string, ms: number) => void;
  /** Called every second. @param figures undefined if this process no longer delivers to the target. */
  readonly targetObserved: (target: string, figures: TargetFigures | undefined) => void;
}

export const DELIVERY_OUTCOMES = ["delivered", "failed"] as const;
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number];

export interface TargetFigures {
  /** Age of the oldest undelivered event that is still retried; 0 if none. */
  readonly lagMs: number;
  readonly waiting: number;
  readonly setAside: number;
}
