import { keepSoul } from '@parley/worker';
import { servedBy } from './message-settings.ts';
import type { Parts } from './open-parts.ts';

/** Begins to look after SOUL.md; what it gives back ends that. */
export function startSoul(parts: Parts): () => Promise<void> {
  const { shared, soul, agent, owners, accounts, processId: owner } = parts;
  const { store, clock, log, lock } = shared;
  const { id, localTime } = agent.place;
  const lease = { leases: store.leases, name: `soul:${id}`, owner, clock, log };
  const keeping = keepSoul({
    ...shared,
    agent: id,
    keeper: soul.keeper,
    once:
      lock &&
      (async (work) => {
        const { whileHeld } = await import('./while-held.ts');
        await whileHeld(lease, work);
      }),
    settings: soul.keeper.settings,
    localTime,
    owners,
    serves: servedBy(accounts),
  });
  return () => keeping.stop();
}
