import type { AccountStatus } from '@parley/gateway';
import type { Metrics } from '@parley/telemetry';
import type { GaugeDeps, ReadGauges } from './read-gauges.ts';

/** The text that `/metrics` answers, with the channels of this process. */
export type Scrape = (channels: readonly AccountStatus[]) => Promise<string>;

/** Loads what reads gauges with the first scrape. */
export function openScrape(deps: GaugeDeps, metrics: Metrics): Scrape {
  let gauges: Promise<ReadGauges> | undefined;
  return async (channels) => {
    gauges ??= import('./read-gauges.ts').then(({ openGauges }) => openGauges(deps));
    const read = await gauges;
    return metrics.render(await read(channels));
  };
}
