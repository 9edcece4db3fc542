import type { InboxRow, Store } from '@parley/store';
import { conversationIdOf } from './ingress/conversation-id.ts';
import { ownershipOf, personId } from './ingress/decide.ts';

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
 * The direct chats in which owners wrote lately, newest first: only of those who are owners still, and
 * where answers can go out.
 */
export async function* ownersChats({
  store,
  owners,
  serves,
}: OwnersChatDeps): AsyncGenerator<OwnersChat> {
  for (const last of await store.inbox.ownerChats()) {
    const { message } = last;
    if (message.chat.type !== 'direct' || !serves(message.channel, message.account)) continue;
    const standing = await ownershipOf(store.links, owners, personId(message));
    if (!standing.isOwner) continue;
    yield { last, conversationId: standing.mainConversation ?? conversationIdOf(message) };
  }
}

/** The newest of them; with `person` (`telegram:42`) of this owner alone. Null when there is none. */
export async function ownersChat(
  deps: OwnersChatDeps,
  person?: string,
): Promise<OwnersChat | null> {
  for await (const chat of ownersChats(deps)) {
    if (person === undefined || personId(chat.last.message) === person) return chat;
  }
  return null;
}
