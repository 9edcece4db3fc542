import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { findAnswer, sendAndWaitForAnswer } from './ask-once.ts';
import {
  type ChatHistory,
  createGatewayClient,
  type GatewayClient,
  type GatewayListener,
} from './gateway-client.ts';

const asked = (
  messageId: string,
  outcome: string | null,
  turnId: string | null = null,
): ChatHistory[number] => ({ type: 'inbound', messageId, outcome, turnId });
const part = (text: string, by: { turnId?: string; answers?: string } = {}) =>
  ({ type: 'part', partId: text, turnId: null, text, ...by }) as const;

describe('the answer to a single message', () => {
  it.each<[string, ChatHistory, string | null]>([
    ['does not exist before the message', [], null],
    [
      'does not exist while its turn runs',
      [asked('m', null, 't'), part('earlier', { turnId: 't0' })],
      null,
    ],
    [
      'consists of all parts of its turn',
      [asked('m', 'answered', 't'), part('a', { turnId: 't' }), part('b', { turnId: 't' })],
      'a\n\nb',
    ],
    [
      'is not the answer to an earlier or later question, in any order',
      [
        asked('before', 'answered', 't0'),
        asked('m', 'answered', 't'),
        asked('behind', 'answered', 't2'),
        part('a', { turnId: 't' }),
        part('later', { turnId: 't2' }),
        part('earlier', { turnId: 't0' }),
        part('help', { answers: 'command' }),
      ],
      'a',
    ],
    [
      'to a command consists of all its parts and no notice',
      [
        asked('m', 'command'),
        part('help', { answers: 'm' }),
        part('other help', { answers: 'other' }),
        part('notice'),
        part('more help', { answers: 'm' }),
        part('answer', { turnId: 't' }),
      ],
      'help\n\nmore help',
    ],
    ['is empty when the turn produced no text', [asked('m', 'silent', 't')], ''],
    [
      'is a notice when the message was stopped before its turn',
      [asked('m', 'stopped'), part('Stopped.', { answers: 'stop' })],
      'The message was not answered (stopped).',
    ],
  ])('[F03] %s', (_what, history, answer) => {
    expect(findAnswer(history, 'm')?.text ?? null).toBe(answer);
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
  ])('[U11] counts as answered with the outcome "%s": %s', (outcome, isAnswered) => {
    expect(findAnswer([asked('m', outcome)], 'm')?.isAnswered).toBe(isAnswered);
  });

  it('[F03] [D13] gets an answer that arrives while the history is still being loaded for the previous event', async () => {
    const reads: ((history: ChatHistory) => void)[] = [];
    const ended = new AbortController();
    let tell: GatewayListener['event'] = () => {};
    const client: Pick<GatewayClient, 'send' | 'history' | 'watch'> = {
      send: async () => ({ id: 'm', kind: 'accepted', reason: undefined }),
      history: () => new Promise((resolve) => reads.push(resolve)),
      async watch(listener) {
        tell = listener.event;
        listener.linked();
        await once(ended.signal, 'abort');
      },
    };
    const asking = sendAndWaitForAnswer(client, ended, 'hi');
    await expect.poll(() => reads.length).toBe(1);
    tell(part('a', { turnId: 't' }));
    reads[0]?.([asked('m', null, 't')]);
    await expect.poll(() => reads.length).toBe(2);
    reads[1]?.([asked('m', 'answered', 't'), part('a', { turnId: 't' })]);
    expect(await asking).toEqual({ text: 'a', isAnswered: true });
  });

  it('[U01] fails if a gateway with another version sends a history without a required field', async () => {
    const gateway = await startTerminalDouble('{"entries":[{"type":"inbound","messageId":"m"}]}');
    const ended = new AbortController();
    const client = createGatewayClient(async () => gateway.found(), ended.signal, {
      downloads: '/nowhere',
      chat: 'main',
    });
    await expect(sendAndWaitForAnswer(client, ended, 'hi')).rejects.toMatchObject({
      code: 'status-unanswered',
      message: expect.stringContaining('another version of Parley. Restart it'),
    });
    gateway.end();
  });

  it('[D13] is abandoned if the gateway exits and does not come back', async () => {
    const gateway = await startTerminalDouble();
    const ended = new AbortController();
    const client = createGatewayClient(async () => gateway.found(), ended.signal, {
      downloads: '/nowhere',
      chat: 'main',
      mayBeAwayMs: 50,
    });
    const asking = sendAndWaitForAnswer(client, ended, 'hi');
    await gateway.isWatched;
    gateway.end();
    await expect(asking).rejects.toMatchObject({ code: 'gateway-gone' });
  });

  it('[D13] is abandoned if the gateway does not process it', async () => {
    const ended = new AbortController();
    const client = createGatewayClient(async () => null, ended.signal, {
      downloads: '/nowhere',
      chat: 'main',
      mayBeAwayMs: 50,
    });
    await expect(sendAndWaitForAnswer(client, ended, 'hi')).rejects.toMatchObject({
      code: 'gateway-gone',
    });
  });
});

/** Simulates the terminal channel of a gateway that accepts a message but never answers it. */
async function startTerminalDouble(history = '{"entries":[]}') {
  const watched = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    request.resume();
    if (request.url?.includes('/events') === true) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      watched.resolve();
    } else if (request.url?.includes('/history') === true) {
      response.end(history);
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
