import { startTelegramDouble } from '../platforms/telegram/telegram-double.ts';
import type { Side } from './side.ts';
import { ask } from './words.ts';

const FIRST_CHAT = 500;

/** Private chats with one bot; a question counts as handed over when a poll has confirmed it. */
export async function startTelegramSide(chats: number): Promise<Side> {
  const double = await startTelegramDouble();
  const senders = Array.from({ length: chats }, (_, index) => index + 1);
  let asked = 0;
  return {
    channel: 'telegram',
    settings: {
      telegram: {
        token: double.token,
        apiRoot: double.apiRoot,
        // What is measured is what survives, not how patiently it is sent.
        pace: false,
        access: { direct: 'open' },
      },
    },
    askAll() {
      asked += 1;
      for (const sender of senders) {
        double.say({ chat: FIRST_CHAT + sender, text: ask({ sender, number: asked }) });
      }
    },
    handedOver: () => double.pendingUpdates().length === 0,
    look: async () =>
      senders.map((sender) => ({
        chatId: String(FIRST_CHAT + sender),
        asked: new Map([[sender, asked]]),
        texts: double
          .conversation(FIRST_CHAT + sender)
          .filter(({ from }) => from === 'bot')
          .map(({ text }) => text),
      })),
    close: () => double.close(),
  };
}
