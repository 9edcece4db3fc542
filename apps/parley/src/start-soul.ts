import { keepSoul } from '@parley/worker';
import { servedBy } from './message-settings.ts';
import type { Parts } from './open-parts.ts';

/** Begins to look after SOUL.md; what it gives back ends that. */
export function startSoul({ shared, soul, agent, owners, accounts }: Parts): () => Promise<void> {
  const { queues } = shared;
  const { id, localTime } = agent.place;
  const keeping = keepSoul({
    ...shared,
    agent: id,
    keeper: soul.keeper,
    settings: soul.keeper.settings,
    localTime,
    owners,
    serves: servedBy(accounts),
    deliver: (channel, account, chatId) => queues.deliveries(channel, account).kick(chatId),
  });
  return () => keeping.stop();
}
