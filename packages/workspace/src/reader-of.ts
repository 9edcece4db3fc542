import type { Reader, RuntimeFacts } from '@parley/contracts';

/** The facts that decide about privacy. */
export type ReaderFacts = Pick<RuntimeFacts, 'chatType'> & {
  readonly user: Pick<RuntimeFacts['user'], 'id'>;
};

/**
 * For whom a turn runs (W02): the owner only when an owner writes in a direct chat. Everything else,
 * also an owner in a group and anybody when no owner is named, is a guest.
 * `owners` are Parley's ids of people, such as `telegram:42`; compared exactly.
 */
export function readerOf(
  facts: ReaderFacts,
  owners: readonly string[],
  conversationId: string,
): Reader {
  const isOwner = facts.chatType === 'direct' && owners.includes(facts.user.id);
  return { kind: isOwner ? 'owner' : 'guest', conversationId };
}
