import { isDeepStrictEqual } from 'node:util';
import { type InboundMessage, silentLogger } from '@parley/core';
import { createInMemoryAdapterValues } from '@parley/core/testing';
import type { MessageAnswer } from '@parley/store';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChannelContext, IngressOutcome } from '../adapter.ts';
import { createApiAdapter } from './adapter.ts';
import type { ApiAccount } from './api-account.ts';
import { toIdPart } from './id-part.ts';

const TOKEN = 't'.repeat(32);
const ANSWERED: MessageAnswer = {
  outcome: 'answered',
  turnId: 't1',
  isSuspended: false,
  usage: { inputTokens: 3, outputTokens: 2, cachedTokens: 1 },
  parts: [{ text: 'Hello.', at: 1, isSent: true }],
  pending: null,
};
const WAITS: MessageAnswer = { ...ANSWERED, outcome: null, parts: [] };

type Clients = ApiAccount['clients'][string];

/** The API with one client, using an ingress and tables controlled by the test. */
function scene(
  client: Partial<Clients> = {},
  {
    answer = async () => ANSWERED,
    outcome = { kind: 'accepted', conversationId: 'c' },
    waitMs = 10_000,
    others = {},
  }: {
    readonly answer?: (chatId: string, messageId: string) => Promise<MessageAnswer | null>;
    readonly outcome?: IngressOutcome;
    readonly waitMs?: number;
    readonly others?: ApiAccount['clients'];
  } = {},
) {
  const received: InboundMessage[] = [];
  const shop = { token: TOKEN, owner: false, conversations: 'one', ...client } as const;
  const context: ChannelContext<ApiAccount> = {
    account: 'default',
    settings: { agent: 'main', waitMs, origins: [], clients: { shop, ...others } },
    log: silentLogger,
    clock: () => 5_000,
    monotonic: () => 5_000,
    holdsAccount: () => true,
    revise: () => Promise.resolve(),
    reacted: async () => {},
    message: async () => null,
    commands: [],
    values: createInMemoryAdapterValues(),
    receive: async (message) => {
      received.push(message);
      return outcome;
    },
    report: () => undefined,
    skipped: async () => {},
    ignored: async () => {},
    notifyOwner: async () => {},
    history: async () => [],
    answer,
  };
  const adapter = createApiAdapter(context);
  const ask = async (body: object, headers: Record<string, string> = {}) => {
    const request = new Request('http://127.0.0.1/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, ...headers },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'hi' }], ...body }),
    });
    const response = await adapter.http?.fetch(request);
    if (response === undefined) throw new Error('the API has lost its routes');
    return { status: response.status, text: await response.text() };
  };
  return { adapter, ask, received };
}

describe('a request of an API client', () => {
  it.each<[string, Partial<Clients>, object, Record<string, string>, string, string, boolean]>([
    ['of the client', {}, {}, {}, 'shop', 'shop', false],
    ['of one of its users', {}, { user: 'ann' }, {}, 'shop/ann', 'shop/ann', true],
    ['with a name', {}, {}, { 'x-parley-conversation': 'a1' }, 'shop#a1', 'shop', true],
    ['of an owner', { owner: true }, { user: 'ann' }, {}, 'shop/ann', 'shop', true],
    ['for another agent', { agent: 'help' }, {}, {}, '@help/shop', 'shop', false],
    ['for the default agent by name', { agent: 'main' }, {}, {}, 'shop', 'shop', false],
    [
      'of a client that keeps the conversation',
      { conversations: 'per-request' },
      {},
      { 'idempotency-key': 'k1' },
      'shop~k1',
      'shop',
      true,
    ],
  ])(
    '[F02] belongs to the conversation %s',
    async (_, client, body, headers, chat, person, separate) => {
      const { ask, received } = scene(client);
      expect((await ask(body, headers)).status).toBe(200);
      expect(received[0]).toMatchObject({
        channel: 'api',
        chat: { id: chat, type: 'direct', ...(separate && { separate }) },
        sender: { id: person, isBot: false },
        text: 'hi',
        addressed: true,
      });
      expect(received[0]?.chat.separate).toBe(separate || undefined);
    },
  );

  it('[F08] [D07] is recognized by its Idempotency-Key of 1 to 200 visible characters', async () => {
    const { ask, received } = scene();
    const key = 'k'.repeat(200);
    for (const one of [key, `${key}k`, 'two words', '']) await ask({}, { 'idempotency-key': one });
    expect(received.map(({ messageId }) => messageId)).toEqual([key]);
  });

  it('[F01] keeps two users separate, whatever their names are', async () => {
    const { ask, received } = scene();
    for (const user of ['a/b', 'a#b', 'a~b', 'ä'.repeat(300)]) await ask({ user });
    expect(new Set(received.map(({ chat }) => chat.id)).size).toBe(4);
    expect(received.every(({ chat }) => /^shop\/[0-9a-f]{40}$/.test(chat.id))).toBe(true);
  });

  it('[F14] [F01] keeps a user separate from another user whose name looks like the hash of the first name', async () => {
    const { ask, received } = scene();
    await ask({ user: 'ann/b' });
    const [, hash = ''] = received[0]?.chat.id.split('/') ?? [];
    await ask({ user: hash });
    await ask({}, { 'x-parley-conversation': 'ann/b' });
    await ask({}, { 'x-parley-conversation': hash });
    const perRequest = scene({ conversations: 'per-request' });
    await perRequest.ask({}, { 'idempotency-key': 'ann/b' });
    await perRequest.ask({}, { 'idempotency-key': hash });
    const chats = [...received, ...perRequest.received].map(({ chat }) => chat.id);
    expect(new Set(chats).size).toBe(6);
    expect(received[0]?.sender.id).not.toBe(received[1]?.sender.id);
  });

  it('[F14] has a separate conversation for each combination of agent, user and conversation name', async () => {
    const name = fc.string({ minLength: 1, maxLength: 12, unit: fc.constantFrom(...'a1/#~@ ') });
    const place = fc.record(
      {
        agent: fc.constantFrom('help', 'main'),
        user: fc.option(fc.oneof(name, name.map(toIdPart)), { nil: undefined }),
        named: fc.option(
          name.map((text) => text.trim()).filter((text) => text !== ''),
          { nil: undefined },
        ),
      },
      { noNullPrototype: true },
    );
    const imitation = place.map((one) => {
      const other = { ...one, user: one.user && toIdPart(one.user) };
      return [one, { ...other, named: one.named && toIdPart(one.named) }] as const;
    });
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.tuple(place, place), imitation), async ([one, other]) => {
        const chats: (string | undefined)[] = [];
        for (const { agent, user, named } of [one, other]) {
          const { ask, received } = scene({ agent });
          await ask({ user }, named === undefined ? {} : { 'x-parley-conversation': named });
          chats.push(received[0]?.chat.id);
        }
        expect(chats[0]).toBeDefined();
        expect(chats[0] === chats[1]).toBe(isDeepStrictEqual(one, other));
      }),
    );
  });

  it('[P04] can ask for JSON, of any shape or matching a schema that can be checked', async () => {
    const { ask, received } = scene();
    const schema = { type: 'object', properties: { city: { type: 'string' } } };
    await ask({ response_format: { type: 'json_object' } });
    await ask({ response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } });
    expect(received.map(({ responseFormat }) => responseFormat)).toEqual(['json', schema]);
    const broken = { type: 'json_schema', json_schema: { schema: { type: 'no-such-type' } } };
    expect(await ask({ response_format: broken })).toMatchObject({ status: 400 });
  });

  it('[D13] times out with a clear error, whether streamed or not', async () => {
    const { ask } = scene({}, { answer: async () => WAITS, waitMs: 50 });
    const late = await ask({});
    expect(late.status).toBe(504);
    expect(JSON.parse(late.text)).toMatchObject({
      error: { code: 'deadline_exceeded', message: expect.stringContaining('Idempotency-Key') },
    });
    const stream = await ask({ stream: true });
    expect(stream.status).toBe(200);
    expect(stream.text).toContain('"code":"deadline_exceeded"');
    expect(stream.text).not.toContain('[DONE]');
  });

  it('[D11] ends when the gateway shuts down', async () => {
    const { ask, adapter } = scene({}, { answer: async () => WAITS });
    const waiting = [ask({}), ask({ stream: true })];
    await expect.poll(() => adapter.stop()).toBeUndefined();
    const [whole, stream] = await Promise.all(waiting);
    expect(whole?.status).toBe(503);
    expect(stream?.text).toContain('shutting_down');
    expect((await ask({})).status).toBe(503);
  });

  it('[D13] gets a retryable error when the database is unavailable', async () => {
    const { ask } = scene({}, { answer: () => Promise.reject(new Error('away')) });
    expect((await ask({})).status).toBe(503);
    expect((await ask({ stream: true })).text).toContain('"code":"unavailable"');
  });

  it('[F12] gets an error when the answer differs from the streamed text', async () => {
    const parts = [...ANSWERED.parts];
    let looks = 0;
    const { ask, adapter } = scene(
      {},
      {
        answer: async () => {
          looks += 1;
          return looks < 3 ? WAITS : { ...ANSWERED, parts };
        },
      },
    );
    const stream = ask({ stream: true });
    await expect.poll(() => looks).toBe(1);
    const answer = { show: async () => [{ text: 'Something else', plain: '' }] };
    await adapter.streaming?.update({ chatId: 'shop' }, 't1', answer);
    const { text } = await stream;
    expect(text).toContain('Something else');
    expect(text).toContain('"code":"answer_changed"');
  });

  it.each<[IngressOutcome, number]>([
    [{ kind: 'refused', reason: 'longer than 5 characters', bound: 'size' }, 413],
    [{ kind: 'refused', reason: '2 messages wait', bound: 'conversation' }, 429],
    [{ kind: 'refused', reason: 'all wait', bound: 'all' }, 429],
    [{ kind: 'ignored', reason: 'the same text repeatedly' }, 429],
  ])('[D07] that ingress refuses (%o) gets status %i', async (outcome, status) => {
    const { ask } = scene({}, { outcome });
    expect((await ask({})).status).toBe(status);
  });
});

describe('[D07] requests of an API client that wait for their answers', () => {
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const [mine, other] = ['m'.repeat(32), 'o'.repeat(32)];
  const others: ApiAccount['clients'] = {
    mine: { token: mine, owner: true, conversations: 'one' },
    other: { token: other, owner: false, conversations: 'one' },
  };

  it("are limited to the client's share; excess requests are answered immediately and not stored", async () => {
    const answer = async (chatId: string) => (chatId.startsWith('shop') ? WAITS : ANSWERED);
    const { adapter, ask, received } = scene({}, { answer, others });
    const waiting = Array.from({ length: 150 }, () => ask({}));
    await expect.poll(() => received.length).toBe(150);
    const refused = await Promise.all(Array.from({ length: 600 }, () => ask({})));
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([429]));
    expect(refused[0]?.text).toContain('150 requests from this client are already waiting');
    expect(received).toHaveLength(150);
    for (const token of [mine, other]) expect((await ask({}, bearer(token))).status).toBe(200);
    await adapter.stop();
    await Promise.all(waiting);
  });

  it('take a slot while their bodies are read and free it when they are refused', async () => {
    const { ask } = scene({}, { others });
    for (let nth = 0; nth < 200; nth += 1)
      expect((await ask({ messages: 'none' })).status).toBe(400);
    expect((await ask({})).status).toBe(200);
    for (let nth = 0; nth < 200; nth += 1) await ask({ stream: true });
    expect((await ask({})).status).toBe(200);
  });
});
