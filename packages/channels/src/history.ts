import type { Button, RenderedPart } from '@parley/core';
import type { ChatKey, Store } from '@parley/store';

/** One line of a chat as the person sees it. Times in ms. */
export type HistoryEntry =
  | {
      readonly kind: 'inbound';
      readonly messageId: string;
      readonly text: string;
      readonly at: number;
      /** Null while it waits for its turn, else how that turn ended. */
      readonly outcome: string | null;
    }
  | {
      readonly kind: 'outbound';
      readonly partId: string;
      readonly turnId: string | null;
      readonly body: RenderedPart;
      readonly buttons?: readonly Button[];
      readonly at: number;
    };

/**
 * Reads a chat's history from what was taken in and what was sent: the durable rows are the history.
 * Messages that Parley wrote itself (a start) are left out.
 */
export async function chatHistory(
  store: Pick<Store, 'inbox' | 'outbox'>,
  chat: ChatKey,
  limit: number,
): Promise<readonly HistoryEntry[]> {
  const [inbound, outbound] = await Promise.all([
    store.inbox.recent(chat, limit),
    store.outbox.recent(chat, limit),
  ]);
  const entries: HistoryEntry[] = [
    ...inbound
      .filter(({ message }) => message.trigger === undefined)
      .map((row) => ({
        kind: 'inbound' as const,
        messageId: row.message.messageId,
        text: row.message.typed ?? row.message.text,
        at: row.receivedAt,
        outcome: row.outcome,
      })),
    ...outbound.map(({ part, createdAt }) => ({
      kind: 'outbound' as const,
      partId: part.id,
      turnId: part.turnId,
      body: part.body,
      ...(part.buttons === undefined ? {} : { buttons: part.buttons }),
      at: createdAt,
    })),
  ];
  // The sort is stable: a question stored in the same millisecond as its answer stays above it.
  return entries.sort((a, b) => a.at - b.at).slice(-limit);
}
