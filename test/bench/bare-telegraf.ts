import { Telegraf } from 'telegraf';
import { message } from 'telegraf/filters';

// The baseline: the least code that answers over telegraf from a streaming model. It stores nothing,
// so what it is doing when it dies is lost, and it remembers nothing of a conversation.

const { BOT_TOKEN = '', API_ROOT = '', MODEL_URL = '' } = process.env;

const bot = new Telegraf(BOT_TOKEN, { telegram: { apiRoot: API_ROOT } });
bot.on(message('text'), async (context) => {
  await context.reply(await ask(context.message.text));
});
process.once('SIGTERM', () => bot.stop('SIGTERM'));
await bot.launch(() => console.log('ready'));

async function ask(question: string): Promise<string> {
  const messages = [{ role: 'user', content: question }];
  const response = await fetch(`${MODEL_URL}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'double', stream: true, messages }),
  });
  let answer = '';
  let rest = '';
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) answer += contentOf(line);
  }
  return answer;
}

function contentOf(line: string): string {
  if (!line.startsWith('data: {')) return '';
  return JSON.parse(line.slice('data: '.length)).choices[0]?.delta.content ?? '';
}
