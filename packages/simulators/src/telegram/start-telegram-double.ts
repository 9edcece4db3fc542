import { createServer } from 'node:http';
import { listenOnLoopback, stopServer } from '../loopback.ts';
import { createBotAccount } from './account.ts';
import { connectBusiness } from './elsewhere.ts';
import { FaultInjector, FloodControl } from './faults.ts';
import {
  deleteBusinessChatMessages,
  editAsAuthor,
  migrateGroup,
  pressButton,
  reactAsPerson,
  sendPersonMessage,
  setBotAccess,
  setTopic,
  stopDraft,
} from './people.ts';
import { BotApiServer } from './server.ts';
import type { TelegramDouble, TelegramDoubleOptions } from './telegram-double.ts';
import { Transcript } from './transcript.ts';

const DEFAULT_TOKEN = '7000000001:double-token-for-tests-and-trying-out';

/**
 * Starts a local Telegram Bot API server for one bot: plain HTTP, the real API format, Telegram's
 * limits and refusals, and injectable faults. `/control/…` exposes the methods of the handle over
 * HTTP.
 */
export async function startTelegramDouble(
  options: TelegramDoubleOptions = {},
): Promise<TelegramDouble> {
  const token = options.botToken ?? DEFAULT_TOKEN;
  const clock = options.clock ?? Date.now;
  const transcript = new Transcript(clock);
  const flood = new FloodControl(options.limits ?? {}, clock);
  const account = createBotAccount(token, {
    transcript,
    flood,
    clock,
    webhookTarget: options.webhookTarget,
    optional: options.optional,
    localServer: options.localServer,
    bytesOfPicture: options.picture,
  });
  const faults = new FaultInjector();
  const api = new BotApiServer(account, token, faults);
  const prefix = options.pathPrefix ?? '';

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://double');
    const failed = (error: unknown) => response.writeHead(500).end(String(error));
    if (url.pathname.startsWith('/control/')) {
      import('./control.ts')
        .then(({ handleControl }) => handleControl(double, request, response, url))
        .catch(failed);
    } else if (url.pathname.startsWith(`${prefix}/`)) {
      api.handle(request, response, url).catch(failed);
    } else {
      response.writeHead(404).end();
    }
  });
  server.keepAliveTimeout = 60_000;
  const port = await listenOnLoopback(server, options.port ?? 0);

  const double: TelegramDouble = {
    apiRoot: `http://127.0.0.1:${port}${prefix}`,
    token,
    me: account.me,
    transcript,
    say: (saying) => sendPersonMessage(account, saying),
    reword: (chatId, messageId, text, business) =>
      editAsAuthor(account, chatId, messageId, text, business),
    connectBusiness: (wish) => connectBusiness(account, wish),
    deleteInBusiness: (connection, chatId, ids) =>
      deleteBusinessChatMessages(account, connection, chatId, ids),
    guestAnswer: (query) => account.guests.get(query)?.answer,
    react: (reaction) => reactAsPerson(account, reaction),
    press: (wish) => pressButton(account, wish),
    stopDraft: (chatId) => stopDraft(account, chatId),
    pressAnswered: (id) => account.queries.get(id)?.answered ?? false,
    update: (kind, content) => account.updates.push(kind, content),
    pendingUpdates: () => account.updates.pending,
    conversation: (chatId, business) => transcript.messages(chatId, business),
    calls: (method) => transcript.calls(method),
    drafts: () => account.drafts,
    migrate: (chatId) => migrateGroup(account, chatId),
    setAccess: (chatId, access) => setBotAccess(account, chatId, access),
    setTopic: (chatId, thread, state) => setTopic(account, chatId, thread, state),
    promote: (id, userId) => void account.chats.open({ id }).administrators.add(userId),
    fault: (fault) => faults.arm(fault),
    clearFaults: () => faults.clear(),
    endPoll: () => account.updates.endPoll(),
    dropConnections: () => server.closeAllConnections(),
    waitFor: (look, timeoutMs = 30_000) => transcript.changes.waitFor(look, timeoutMs),
    close: () => {
      account.webhook.call('', '');
      return stopServer(server);
    },
  };
  return double;
}
