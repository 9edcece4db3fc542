import { Telegraf } from 'telegraf';
import { message } from 'telegraf/filters';
import { askModel } from './ask-model.ts';

// The smallest telegraf bot that answers from a streaming model. It stores nothing: a crash loses
// work in progress, and the bot remembers no conversation.

const { BOT_TOKEN = '', API_ROOT = '' } = process.env;

const bot = new Telegraf(BOT_TOKEN, { telegram: { apiRoot: API_ROOT } });
bot.on(message('text'), async (context) => {
  const { text } = await askModel([{ role: 'user', content: context.message.text }]);
  await context.reply(text);
});
process.once('SIGTERM', () => bot.stop('SIGTERM'));
await bot.launch(() => console.log('ready'));
