import type { Store } from '@parley/store';
import { OWNER_CHAT, PLACE } from './write-message.ts';

/** For tests: what `/approve` and `/deny` of the owner do, as ingress does it, in the chat where it was asked. */
export async function decide(
  store: Pick<Store, 'inbox'>,
  verdict: 'approved' | 'denied',
  code = 'CODE1',
  chatId = OWNER_CHAT,
): Promise<void> {
  const now = Date.UTC(2026, 10, 21, 13, 5);
  await store.inbox.command(
    {
      conversationId: chatId,
      route: { ...PLACE, chatId, target: { dialect: 'plain', maxLength: 99, unit: 'utf16' } },
      receivedAt: now,
      message: {
        ...PLACE,
        messageId: `${code}-${verdict}`,
        chat: { id: chatId, type: 'direct' },
        sender: { id: '1', name: 'Ada', isBot: false },
        text: '/approve',
        mentions: [],
        addressed: true,
        sentAt: 0,
        variables: {},
      },
    },
    { kind: 'decide', code, verdict, by: 'test:1' },
    () => [],
  );
}
