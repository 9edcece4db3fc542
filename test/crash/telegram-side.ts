import { startTelegramDouble } from '@parley/simulators/telegram';
import { type CrashSide, listSenders } from './side.ts';
import { formatQuestion } from './words.ts';

const FIRST_SENDER = 10_001;

/** Private chats with one bot; a question counts as delivered when a poll has confirmed it. */
export async function startTelegramSide(chats: number): Promise<CrashSide> {
  const double = await startTelegramDouble();
  const senders = listSenders(FIRST_SENDER, chats);
  return {
    channel: 'telegram',
    settings: {
      token: double.token,
      apiRoot: double.apiRoot,
      // The test measures what survives, so a short patience suffices.
      pace: false,
      access: { direct: 'open' },
    },
    senders,
    ask: (question) => void double.say({ chat: question.sender, text: formatQuestion(question) }),
    allDelivered: () => double.pendingUpdates().length === 0,
    look: async () =>
      senders.map((sender) => ({
        chatId: String(sender),
        senders: [sender],
        texts: double
          .conversation(sender)
          .filter(({ from }) => from === 'bot')
          .map(({ text }) => text),
      })),
    close: () => double.close(),
  };
}
