import type { Reader, RuntimeFacts } from '@parley/contracts';

/** Whose turn it is and where, as far as privacy is concerned. */
export interface ReaderFacts {
  readonly conversationId: string;
  readonly user: Pick<RuntimeFacts['user'], 'id'>;
  readonly chatType: RuntimeFacts['chatType'];
}

/**
 * For whom a turn runs (W02): the owner only when an owner writes in a direct chat. Everything else,
 * also an owner in a group and anybody when no owner is named, is a guest.
 * `owners` are Parley's ids of people, such as `telegram:42`; compared exactly.
 */
export function readerOf(facts: ReaderFacts, owners: Iterable<string>): Reader {
  const { conversationId } = facts;
  const isOwner = facts.chatType === 'direct' && new Set(owners).has(facts.user.id);
  return { kind: isOwner ? 'owner' : 'guest', conversationId };
}
