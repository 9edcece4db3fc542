import { createRedisState } from '@chat-adapter/state-redis';
import { createTelegramAdapter } from '@chat-adapter/telegram';
import { type Adapter, Chat, ConsoleLogger } from 'chat';
import { askModel, SYSTEM, TOOLS } from './ask-model.ts';

// A bot written as in the Chat SDK's documentation: long polling, state and history in Redis, the
// newest 20 messages for the model. Messages that arrive while a chat is busy are queued; the
// default drops them. It uses a prompt and tools of Parley's size, and posts the whole answer
// unchanged.

const { BOT_TOKEN = '', API_ROOT = '', REDIS_URL = '' } = process.env;

const logger = new ConsoleLogger('warn');
const telegram = createTelegramAdapter({
  botToken: BOT_TOKEN,
  apiUrl: API_ROOT,
  mode: 'polling',
  logger,
});
const bot = new Chat({
  userName: 'parley_test_bot',
  // The package's type declarations do not support `exactOptionalPropertyTypes`.
  adapters: { telegram: telegram as Adapter },
  state: createRedisState({ url: REDIS_URL, logger }),
  concurrency: 'queue',
  logger,
});
bot.onDirectMessage(async (thread) => {
  const { messages } = await bot.history.thread.list(thread.id, { limit: 20 });
  const past = messages.map(({ author, text }) => {
    return { role: author.isMe ? 'assistant' : 'user', content: text } as const;
  });
  const { text } = await askModel([{ role: 'system', content: SYSTEM }, ...past], TOOLS);
  await thread.post(text);
});
process.once('SIGTERM', () => process.exit());
await bot.initialize();
console.log('ready');
