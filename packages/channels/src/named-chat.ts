import type { InboxRow, Store } from '@parley/store';

/** A chat that the settings give a name. */
export interface NamedChat {
  readonly channel: string;
  readonly account: string;
  /** As the platform calls it. */
  readonly chat: string;
  readonly thread?: string | undefined;
}

/** What finding such a chat needs. */
export interface NamedChatDeps {
  readonly store: Pick<Store, 'inbox'>;
  /** True when answers can go out there: the account is one of the settings. */
  readonly serves: (channel: string, account: string) => boolean;
}

/** The last message from there, `inThread` if it is of the thread that was named; or why not. */
export type FoundNamedChat =
  | { readonly kind: 'found'; readonly last: InboxRow; readonly inThread: boolean }
  | { readonly kind: 'none'; readonly reason: string };

/** Messages of a chat among which one of the thread is looked for. */
const LATELY = 50;

/**
 * The last message of a named chat: its route and its kind are those that are known from there, so
 * that nothing goes where nobody has written (F11).
 */
export async function namedChat(
  { store, serves }: NamedChatDeps,
  name: string,
  { channel, account, chat, thread }: NamedChat,
): Promise<FoundNamedChat> {
  if (!serves(channel, account)) {
    const reason = `${name} cannot be reached: ${channel} (${account}) is not connected here.`;
    return { kind: 'none', reason };
  }
  const rows = await store.inbox.recent({ channel, account, chatId: chat }, LATELY);
  const ofThread = rows.findLast(({ message }) => message.chat.threadId === thread);
  const last = ofThread ?? rows.at(-1);
  if (last === undefined) {
    const reason = `${name} cannot be reached yet: nobody has written to me there.`;
    return { kind: 'none', reason };
  }
  return { kind: 'found', last, inThread: ofThread !== undefined };
}
