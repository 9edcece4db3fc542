import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { createSlackAdapter } from '@chat-adapter/slack';
import { createRedisState } from '@chat-adapter/state-redis';
import { type Adapter, Chat, ConsoleLogger, type Message, type MessageContext } from 'chat';
import { askModel, SYSTEM, TOOLS } from './ask-model.ts';

// A Slack bot written as in the Chat SDK's documentation: events by webhook, subscriptions, locks
// and the queue in Redis. Messages that arrive while a chat is busy are queued and answered
// together. With ANSWERS=after, it acknowledges an event only after its handler has finished, as
// the documentation's page about errors shows.

const { SLACK_API_URL = '', SLACK_BOT_TOKEN = '', SLACK_SIGNING_SECRET = '' } = process.env;
const { REDIS_URL = '', PORT = '', ANSWERS = 'at-once' } = process.env;

const logger = new ConsoleLogger('warn');
const slack = createSlackAdapter({
  apiUrl: SLACK_API_URL,
  botToken: SLACK_BOT_TOKEN,
  signingSecret: SLACK_SIGNING_SECRET,
  logger,
});
const bot = new Chat({
  userName: 'Parley',
  // The package's type declarations do not support `exactOptionalPropertyTypes`.
  adapters: { slack: slack as Adapter },
  state: createRedisState({ url: REDIS_URL, logger }),
  concurrency: 'queue',
  logger,
});

/** Answers a message together with those that have arrived since the previous one. */
async function answerMessage(
  message: Message,
  context: MessageContext | undefined,
): Promise<string> {
  const asked = [...(context?.skipped ?? []), message].map(({ text }) => text).join('\n\n');
  const messages = [
    { role: 'system', content: SYSTEM },
    { role: 'user', content: asked },
  ] as const;
  return (await askModel(messages, TOOLS)).text;
}

bot.onDirectMessage(async (thread, message, _channel, context) => {
  await thread.post(await answerMessage(message, context));
});
bot.onNewMention(async (thread, message, context) => {
  await thread.subscribe();
  await thread.post(await answerMessage(message, context));
});
bot.onSubscribedMessage(async (thread, message, context) => {
  await thread.post(await answerMessage(message, context));
});

async function handleRequest(request: Request): Promise<Response> {
  if (ANSWERS !== 'after') return bot.webhooks.slack(request);
  const tasks: Promise<unknown>[] = [];
  const response = await bot.webhooks.slack(request, {
    waitUntil: (task) => void tasks.push(task),
    propagateHandlerErrors: true,
  });
  const results = await Promise.allSettled(tasks);
  const failed = results.some(({ status }) => status === 'rejected');
  return failed ? new Response('Handler failed', { status: 500 }) : response;
}

const server = createServer(async (incoming, outgoing) => {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(incoming.headersDistinct)) {
    headers.set(name, values.join(', '));
  }
  const body = new Uint8Array(await buffer(incoming));
  const url = `http://127.0.0.1${incoming.url}`;
  const response = await handleRequest(new Request(url, { method: 'POST', headers, body }));
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(await response.text());
});
process.once('SIGTERM', () => process.exit());
await bot.initialize();
server.listen(Number(PORT), '127.0.0.1', () => console.log('ready'));
