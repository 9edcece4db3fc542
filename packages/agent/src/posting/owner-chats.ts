import type { InboxRow, Store } from '@parley/store';

/** What finding the chats of owners needs. */
export interface OwnerChatsDeps {
  readonly store: Pick<Store, 'inbox' | 'links'>;
  /** `telegram:42`. */
  readonly owners: readonly string[];
  /** Whether messages can go out there now. */
  readonly serves: (channel: string, account: string) => boolean;
}

/**
 * The last message of each direct chat in which an owner wrote lately, newest first: only of those who
 * are owners still, and where messages can go out.
 */
export async function ownerChats(deps: OwnerChatsDeps): Promise<readonly InboxRow[]> {
  const chats: InboxRow[] = [];
  for (const row of await deps.store.inbox.ownerChats()) {
    const { channel, account, chat, sender } = row.message;
    if (chat.type !== 'direct' || !deps.serves(channel, account)) continue;
    if (await isOwner(deps, `${channel}:${sender.id}`)) chats.push(row);
  }
  return chats;
}

/** Named in the settings, or linked by an owner with an account that is (F13). */
async function isOwner({ store, owners }: OwnerChatsDeps, person: string): Promise<boolean> {
  if (owners.includes(person)) return true;
  const link = await store.links.of(person);
  return link?.byOwner === true && link.members.some((member) => owners.includes(member));
}
