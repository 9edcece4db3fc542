import type { Clock } from '@parley/contracts';
import type { Store } from '@parley/store';
import { zoneClock } from '../zone-clock.ts';

interface TokensTodayDeps {
  readonly store: Pick<Store, 'heartbeats'>;
  readonly agent: { readonly id: string; readonly timeZone: string };
  readonly clock: Clock;
}

const DAY_MS = 24 * 60 * 60_000;

/** What all runs since midnight in the agent’s time zone have used, in tokens (H05). */
export async function tokensToday({ store, agent, clock }: TokensTodayDeps): Promise<number> {
  const day = zoneClock(agent.timeZone);
  const wall = day.wallAt(clock());
  return store.heartbeats.tokensSince(agent.id, day.firstMomentOf(wall - (wall % DAY_MS)));
}
