import { Telegraf } from 'telegraf';
import { message } from 'telegraf/filters';
import { askModel } from './ask-model.ts';

// The least code that answers over telegraf from a streaming model. It stores nothing, so what it is
// doing when it dies is lost, and it remembers nothing of a conversation.

const { BOT_TOKEN = '', API_ROOT = '' } = process.env;

const bot = new Telegraf(BOT_TOKEN, { telegram: { apiRoot: API_ROOT } });
bot.on(message('text'), async (context) => {
  const { text } = await askModel([{ role: 'user', content: context.message.text }]);
  await context.reply(text);
});
process.once('SIGTERM', () => bot.stop('SIGTERM'));
await bot.launch(() => console.log('ready'));
