import { type Clock, systemClock } from "../../client/src/clock.ts";
import type { TestService } from "../test/support/open-service.ts";

export interface FastClock extends Clock {
  stop(): void;
}

/**
 * The time of the service and of its partners, which goes by many times as fast as real time, so that five minutes
 * do not take five minutes.
 */
export function fastClock(service: TestService, speed: number): FastClock {
  const [start, startedAt] = [service.now, performance.now()];
  const now = () => {
    service.now = Math.floor(start + (performance.now() - startedAt) * speed);
    return service.now;
  };
  const ticking = setInterval(now, 1);
  return {
    now,
    stop: () => clearInterval(ticking),
    sleep: (ms, signal) => systemClock.sleep(ms / speed, signal),
  };
}
