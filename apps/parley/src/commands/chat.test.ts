import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { type ChatHistory, createGatewayClient } from '../running-gateway.ts';
import { answerTo, askOnce } from './chat.ts';

const asked = (messageId: string, outcome: string | null): ChatHistory[number] => ({
  type: 'inbound',
  messageId,
  outcome,
});
const part = (turnId: string | null, text: string): ChatHistory[number] => ({
  type: 'part',
  partId: text,
  turnId,
  text,
});

describe('the answer to one message', () => {
  it.each<[string, ChatHistory, string | null]>([
    ['is not there before the message', [], null],
    ['is not there while its turn runs', [asked('m', null), part('t0', 'earlier')], null],
    [
      'is all parts of its turn',
      [asked('m', 'answered'), part('t', 'a'), part('t', 'b')],
      'a\n\nb',
    ],
    [
      'is not that of an earlier question',
      [asked('m', 'answered'), part('t0', 'old'), part('t', 'new')],
      'new',
    ],
    [
      'of a command is one part',
      [asked('m', 'command'), part('t0', 'old'), part(null, 'help')],
      'help',
    ],
    ['is empty when it was stopped', [asked('m', 'stopped')], ''],
    [
      'leaves out what was said before',
      [part('t0', 'old'), asked('m', 'answered'), part('t', 'a')],
      'a',
    ],
  ])('%s', (_what, history, answer) => {
    expect(answerTo(history, 'm')?.text ?? null).toBe(answer);
  });
});

describe('a message from a script', () => {
  it.each([
    ['answered', true],
    ['silent', true],
    ['command', true],
    ['failed', false],
    ['stopped', false],
    ['withdrawn', false],
    ['replaced', false],
  ])('[U11] with the outcome "%s" counts as answered: %s', (outcome, isAnswered) => {
    expect(answerTo([asked('m', outcome)], 'm')?.isAnswered).toBe(isAnswered);
  });

  it('[D13] is given up when the gateway ends while it waits and does not come back', async () => {
    const gateway = await startTerminalDouble();
    const ended = new AbortController();
    const client = createGatewayClient(async () => gateway.found(), ended.signal, {
      downloads: '/nowhere',
      chat: 'main',
      mayBeAwayMs: 50,
    });
    const asking = askOnce(client, ended, 'hi');
    await gateway.isWatched;
    gateway.end();
    await expect(asking).rejects.toMatchObject({ code: 'gateway-gone' });
  });

  it('[D13] is given up when no gateway takes it', async () => {
    const ended = new AbortController();
    const client = createGatewayClient(async () => null, ended.signal, {
      downloads: '/nowhere',
      chat: 'main',
      mayBeAwayMs: 50,
    });
    await expect(askOnce(client, ended, 'hi')).rejects.toMatchObject({ code: 'gateway-gone' });
  });
});

/** The terminal channel of a gateway that takes a message and never answers it. */
async function startTerminalDouble() {
  const watched = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    request.resume();
    if (request.url?.includes('/events') === true) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      watched.resolve();
    } else if (request.url?.includes('/history') === true) {
      response.end('{"entries":[]}');
    } else {
      response.end('{"outcome":{"kind":"accepted"}}');
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    isWatched: watched.promise,
    found: () =>
      server.listening ? { address: `http://127.0.0.1:${port}`, token: 'token' } : null,
    end(): void {
      server.close();
      server.closeAllConnections();
    },
  };
}
