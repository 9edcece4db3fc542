import { renderNoticeParts } from '@parley/channels';
import { type Clock, decodeLiteralText, getConversationAgent, type LiveBus } from '@parley/core';
import { createWakeDelivery } from '@parley/queue';
import type { InboxRow, Store } from '@parley/store';

interface OwnerNoticeDeps {
  readonly store: Pick<Store, 'inbox' | 'outbox' | 'groupContext'>;
  readonly bus: LiveBus;
  readonly clock: Clock;
}

/** Notifies an owner through the outbox, so that the notice arrives exactly once. */
export async function notifyOwner(
  { store, bus, clock }: OwnerNoticeDeps,
  key: string,
  markdown: string,
  chat?: InboxRow,
): Promise<void> {
  const to = chat ?? sortDefaultFirst(await store.inbox.ownerChats())[0];
  if (to === undefined) return;
  const { replyToMessageId: _, ...route } = to.route;
  const [first, ...others] = renderNoticeParts(`⚙️ ${markdown}`, route);
  if (first === undefined) return;
  await store.outbox.post({ key, parts: [first, ...others] }, clock());
  const { channel, account, chatId } = route;
  // The notice becomes part of the conversation, so that people can ask the agent about it.
  const place = { conversationId: to.conversationId, channel, account, chatId };
  const text = decodeLiteralText(markdown);
  await store.groupContext.keepOwn(place, { key, what: 'notice', text }, clock());
  await createWakeDelivery(bus)(channel, account, chatId);
}

/** Owners of the default agent run the installation, so their chats come first. */
export function sortDefaultFirst(chats: readonly InboxRow[]): readonly InboxRow[] {
  const ofDefault = (row: InboxRow) => getConversationAgent(row.conversationId) === undefined;
  return [...chats.filter(ofDefault), ...chats.filter((row) => !ofDefault(row))];
}
