import { findOwnership } from '@parley/channels';
import { type Clock, defineReadOperation, getConversationAgent } from '@parley/core';
import type { Store } from '@parley/store';
import { z } from 'zod';
import type { AgentSummary } from './agent-operations.ts';
import type { UsageDisplaySettings } from './usage-operations.ts';

interface PeopleOperationDeps {
  readonly store: Pick<Store, 'conversations' | 'links' | 'pairing' | 'spend'>;
  readonly clock: Clock;
  /** Lists all agents, starting with the default agent. */
  agents(): Promise<readonly AgentSummary[]>;
  usage(): Promise<UsageDisplaySettings>;
}

/**
 * Operations on the people in a conversation, with their rights, accounts and limits (F05, F13,
 * G17).
 */
export const peopleOperations = {
  people: defineReadOperation(
    'List people who recently wrote in a conversation, with their rights, linked accounts and usage today',
    { id: z.string().max(700) },
    async (needs: PeopleOperationDeps, { id }) => {
      const { store, clock } = needs;
      const [found, agents, { dayAt, caps }] = await Promise.all([
        store.conversations.people(id),
        needs.agents(),
        needs.usage(),
      ]);
      const name = getConversationAgent(id);
      const agent = agents.find((one) => (name === undefined ? one.isDefault : one.name === name));
      const day = dayAt(clock());
      const cap = caps.find((one) => one.name === 'perPersonDaily');
      const people = found.map(async ({ channel, account, senderId, ...shown }) => {
        const { person } = shown;
        const [{ isOwner }, link, isPaired, today] = await Promise.all([
          findOwnership(store.links, agent?.owners ?? [], person),
          store.links.of(person),
          store.pairing.isAllowed(channel, account, senderId),
          store.spend.ofPerson({ day, personId: person }),
        ]);
        return {
          ...shown,
          /**
           * `paired` means that an owner admitted the person with a code, and `guest` that the
           * settings allow the person to write.
           */
          role: isOwner ? ('owner' as const) : isPaired ? ('paired' as const) : ('guest' as const),
          /** The person's other linked accounts. */
          linked: (link?.members ?? []).filter((member) => member !== person),
          today,
          /** The daily limits; null if there are none or if the person is an owner. */
          cap: isOwner || cap === undefined ? null : { tokens: cap.tokens, usd: cap.usd },
        };
      });
      return { people: await Promise.all(people) };
    },
  ),
};
