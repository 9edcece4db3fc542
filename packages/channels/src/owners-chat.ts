import type { InboxRow, Store } from '@parley/store';
import { personId } from './ingress/access.ts';
import { conversationIdOf } from './ingress/conversation-id.ts';
import { ownershipOf } from './ingress/standing.ts';

/** A direct chat in which an owner has written. */
export interface OwnersChat {
  /** Their last message there: by whom, in which chat, with the route of its answer. */
  readonly last: InboxRow;
  /** The conversation that it belongs to; linked accounts share one (F13). */
  readonly conversationId: string;
}

/** What finding such a chat needs. */
export interface OwnersChatDeps {
  readonly store: Pick<Store, 'inbox' | 'links'>;
  readonly owners: readonly string[];
  /** True when answers can go out there: the account is one of the settings. */
  readonly serves: (channel: string, account: string) => boolean;
}

/**
 * The direct chat in which an owner wrote last, if they are one still and their account is served;
 * with `person` (`telegram:42`) that of this owner alone. Null when there is none.
 */
export async function ownersChat(
  { store, owners, serves }: OwnersChatDeps,
  person?: string,
): Promise<OwnersChat | null> {
  for (const last of await store.inbox.ownerChats()) {
    const { message } = last;
    if (message.chat.type !== 'direct' || !serves(message.channel, message.account)) continue;
    if (person !== undefined && personId(message) !== person) continue;
    const standing = await ownershipOf(store.links, owners, personId(message));
    if (!standing.isOwner) continue;
    return { last, conversationId: standing.mainConversation ?? conversationIdOf(message) };
  }
  return null;
}
