import type { Clock } from '@parley/contracts';
import type { PartState, Store, TurnTotals } from '@parley/store';

/** What `GET /api/status` and `parley status` tell besides the channels. */
export interface StatusReport {
  readonly agent: string;
  /** Which model answers and why. */
  readonly model: string;
  readonly dataFolder: string;
  /** The last 24 hours. */
  readonly turns: TurnTotals;
  readonly outbox: Readonly<Record<PartState, number>>;
}

const DAY_MS = 24 * 60 * 60_000;

/** Reads the figures of a status report. */
export async function statusReport(
  facts: Pick<StatusReport, 'agent' | 'model' | 'dataFolder'>,
  store: Pick<Store, 'turns' | 'outbox'>,
  clock: Clock,
): Promise<StatusReport> {
  const [turns, outbox] = await Promise.all([
    store.turns.totals(clock() - DAY_MS),
    store.outbox.counts(),
  ]);
  return { ...facts, turns, outbox };
}
