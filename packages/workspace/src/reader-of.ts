import type { Reader, RuntimeFacts } from '@parley/contracts';

/** The facts that decide about privacy. */
export type ReaderFacts = Pick<RuntimeFacts, 'chatType'> & {
  readonly user: Pick<RuntimeFacts['user'], 'id'>;
  /** Others read the answer than those who asked, as with a job that reports to a group. */
  readonly deliversElsewhere?: boolean;
};

/**
 * For whom a turn runs (W02): the owner only when an owner writes in a direct chat and is answered
 * there. Everything else, also an owner in a group and anybody when no owner is named, is a guest.
 * `owners` are Parley's ids of people, such as `telegram:42`; compared exactly.
 */
export function readerOf(
  facts: ReaderFacts,
  owners: readonly string[],
  conversationId: string,
): Reader {
  const { chatType, user, deliversElsewhere = false } = facts;
  const isOwner = chatType === 'direct' && !deliversElsewhere && owners.includes(user.id);
  return { kind: isOwner ? 'owner' : 'guest', conversationId };
}
