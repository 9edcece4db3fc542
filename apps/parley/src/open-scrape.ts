import type { AccountStatus, Health } from '@parley/gateway';
import type { Metrics } from '@parley/telemetry';
import type { GaugeDeps, ReadGauges } from './read-gauges.ts';

/** The text that `/metrics` answers, with the channels and the health of this process. */
export type Scrape = (channels: readonly AccountStatus[], health: Health) => Promise<string>;

/** Loads what reads gauges with the first scrape. */
export function openScrape(deps: GaugeDeps, metrics: Metrics): Scrape {
  let gauges: Promise<ReadGauges> | undefined;
  return async (channels, health) => {
    gauges ??= import('./read-gauges.ts').then(({ openGauges }) => openGauges(deps));
    const read = await gauges;
    return metrics.render(await read(channels, health));
  };
}
