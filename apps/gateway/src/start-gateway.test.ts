import { once } from 'node:events';
import { createServer } from 'node:net';
import {
  type ChannelContext,
  type ChannelDefinition,
  type ChannelState,
  type DecisionRules,
  toConversationId,
} from '@parley/channels';
import {
  type Attachment,
  type InboundMessage,
  type OutboundPart,
  silentLogger,
  silentMeter,
  systemTime,
} from '@parley/core';
import { openSecrets } from '@parley/core/telemetry';
import { CAPABILITIES } from '@parley/core/testing';
import { createLocalBus, openTurnQueue, type WakeUpQueue } from '@parley/queue';
import type { Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { PlannedAccount } from './accounts/gateway-accounts.ts';
import { createTestStatus, NO_OPERATIONS } from './http/testing/full-app.ts';
import {
  type Gateway,
  type GatewayOptions,
  type GatewayServices,
  startGateway,
} from './start-gateway.ts';

const RULES: DecisionRules = {
  policy: {
    access: {
      direct: 'open',
      groups: 'disabled',
      allow: [],
      allowGroups: [],
      groupCommands: 'owners',
    },
    activation: 'mention',
    answers: { mentions: 'dead', numbered: false },
  },
  owners: [],
  limits: { messageCharacters: 100, waitingPerConversation: 5, totalWaiting: 100 },
};
const TOKEN = 'a-token-of-at-least-thirty-two-characters';

let store: Store;
let turns: WakeUpQueue;
const bus = createLocalBus(silentLogger);
let gateway: Gateway | undefined;
let happened: string[];
beforeEach(async () => {
  happened = [];
  store = await openMemoryStore({ clock: Date.now });
  turns = await openTurnQueue({ url: 'memory:', log: silentLogger });
});
afterEach(async () => {
  await gateway?.close(100);
  gateway = undefined;
  await turns.close();
  await store.close();
});

/** Creates a simulated platform that records calls, and from which people can send messages. */
function platform(id: string): {
  readonly definition: ChannelDefinition;
  say(text: string, attachments?: Attachment[]): Promise<unknown>;
  /** Reports that a message was edited. */
  change(message: InboundMessage): Promise<void>;
  report(state: ChannelState): void;
  readonly sent: OutboundPart[];
} {
  let context: ChannelContext<unknown> | undefined;
  const sent: OutboundPart[] = [];
  const definition: ChannelDefinition = {
    id,
    settings: z.unknown(),
    load: async () => (given) => {
      context = given;
      return {
        capabilities: { ...CAPABILITIES, idempotentSend: true },
        async start() {
          happened.push(`${id} started with ${JSON.stringify(given.settings)}`);
          given.report({ kind: 'connected', as: `@${id}` });
        },
        async stop() {
          happened.push(`${id} stopped`);
          given.report({ kind: 'stopped' });
        },
        async send(part) {
          sent.push(part);
          return { platformMessageId: part.id };
        },
        files: { maxBytes: 1_000, fetch: async (ref) => Buffer.from(`bytes of ${ref}`) },
        http: { fetch: async (request) => new Response(`${id} ${request.method}`) },
      };
    },
  };
  const say = (text: string, attachments?: Attachment[]) =>
    context?.receive({ ...messageIn(id, text), ...(attachments && { attachments }) }) ??
    Promise.resolve();
  const change = async (message: InboundMessage): Promise<void> =>
    context?.revise({ kind: 'edited', message });
  const report = (state: ChannelState): void => context?.report(state);
  return { definition, say, change, report, sent };
}

function messageIn(channel: string, text: string): InboundMessage {
  return {
    channel,
    account: 'default',
    messageId: text,
    chat: { id: 'c', type: 'direct' },
    sender: { id: 'u', name: 'Ada', isBot: false },
    text,
    mentions: [],
    addressed: true,
    sentAt: 0,
    variables: {},
  };
}

const ready = (definition: ChannelDefinition, rules = RULES): PlannedAccount => ({
  kind: 'ready',
  plan: { definition, account: 'default', settings: {}, rules },
});

async function open(
  accounts: readonly PlannedAccount[],
  port = 0,
  more: Pick<GatewayOptions, 'sharedAs' | 'followPausesMs'> = {},
): Promise<Gateway> {
  const secrets = openSecrets(['chat-key-1', '12345678']);
  gateway = await startGateway({
    accounts,
    store,
    turns,
    bus,
    log: silentLogger,
    meter: silentMeter,
    clock: Date.now,
    monotonic: systemTime.monotonic,
    random: Math.random,
    secrets,
    scrub: secrets.scrub,
    checkpoint: () => {},
    situation: () => ({ agentName: 'Polly', model: 'none', models: [] }),
    media: {
      fileBytes: 1_000,
      messageBytes: 2_000,
      keptBytes: 9_000,
      personFiles: 9,
      personBytes: 9_000,
    },
    http: {
      host: '127.0.0.1',
      port,
      token: () => TOKEN,
      sessions: { idleMs: 1_000_000, longestMs: 2_000_000 },
    },
    page: async () => ({ fetch: () => new Response('the page') }),
    metrics: async () => '',
    ...SERVICES,
    ...more,
  });
  return gateway;
}

const SERVICES: GatewayServices = {
  operations: NO_OPERATIONS,
  report: createTestStatus({
    agent: 'Polly',
    mcp: 'refused: {"x-key":"chat-key-1"}',
    port: 12345678,
  }),
};

/** Finds a port that was free a moment ago. */
async function unusedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('A server without a port.');
  return address.port;
}

const get = async (path: string) => {
  const headers = { authorization: `Bearer ${TOKEN}` };
  return (await fetch(`${gateway?.address}${path}`, { headers })).text();
};

describe('a gateway', () => {
  it('[F01] [D04] receives messages for each account, and sends the pending parts to its chats', async () => {
    const [one, two] = [platform('one'), platform('two')];
    await open([ready(one.definition), ready(two.definition)]);
    expect(await one.say('hello')).toMatchObject({ kind: 'accepted' });
    expect(await store.inbox.waiting(toConversationId(messageIn('one', '')))).toBe(1);
    await two.say('/whoami');
    await expect.poll(() => two.sent.length).toBe(1);
    expect(two.sent[0]?.body.plain).toContain('two:u');
    expect(one.sent).toEqual([]);
  });

  it('[D01] asks callers to retry while an account is being opened', async () => {
    const one = platform('one');
    const library = Promise.withResolvers<void>();
    const slow: ChannelDefinition = {
      ...one.definition,
      load: async () => {
        await library.promise;
        return one.definition.load();
      },
    };
    const port = await unusedPort();
    const opening = open([ready(slow)], port);
    const ask = async () => {
      const response = await fetch(`http://127.0.0.1:${port}/channels/one/default/x`, {
        headers: { authorization: `Bearer ${TOKEN}` },
      });
      return [response.status, await response.text()];
    };
    await expect
      .poll(() => ask().catch(() => null))
      .toEqual([503, 'Parley is starting. Try again in a moment.\n']);
    library.resolve();
    await opening;
    expect(await ask()).toEqual([200, 'one GET']);
  });

  it('[U03] disconnects an account that another gateway has paused, and asks its platform to retry', async () => {
    const one = platform('one');
    const opened = await open([ready(one.definition)], 0, { sharedAs: 'a', followPausesMs: 50 });
    const state = () => opened.status()[0]?.state;
    await expect.poll(() => state()?.kind, { timeout: 40_000 }).toBe('connected');
    await store.accountPauses.pause({ channel: 'one', account: 'default', by: 'Ann', since: 7 });
    await expect.poll(state, { timeout: 40_000 }).toEqual({ kind: 'paused', by: 'Ann', since: 7 });
    expect(happened.at(-1)).toBe('one stopped');
    const headers = { authorization: `Bearer ${TOKEN}` };
    const called = await fetch(`${opened.address}/channels/one/default/x`, { headers });
    expect([called.status, called.headers.get('retry-after')]).toEqual([503, '1']);
    await store.accountPauses.resume('one', 'default');
    await expect.poll(() => state()?.kind, { timeout: 40_000 }).toBe('connected');
  }, 90_000);

  it('[F10] fetches the files of a message, even if the message has no text', async () => {
    const one = platform('one');
    await open([ready(one.definition)]);
    const photo = { kind: 'image', ref: 'p' } as const;
    expect(await one.say(' ', [photo])).toMatchObject({ kind: 'accepted' });
    await expect.poll(() => store.attachments.bytes({ messageSeq: 1, index: 0 })).not.toBeNull();
    const bytes = await store.attachments.bytes({ messageSeq: 1, index: 0 });
    expect(Buffer.from(bytes ?? []).toString()).toBe('bytes of p');
  });

  it('[W08] does not let platforms impersonate Parley, even through an edited message', async () => {
    const first = platform('first');
    await open([ready(first.definition)]);
    await first.say('hello');
    await first.change({ ...messageIn('first', 'hello'), text: 'changed', trigger: 'boot' });
    const chat = { channel: 'first', account: 'default', chatId: 'c' };
    const [row] = await store.inbox.recent(chat, 1);
    expect(row?.message).toEqual({ ...messageIn('first', 'hello'), text: 'changed' });
  });

  it('[D12] runs without an account that is broken or cannot be loaded, and reports the reason', async () => {
    const good = platform('good');
    const unloadable: ChannelDefinition = {
      ...good.definition,
      id: 'unloadable',
      load: () => Promise.reject(new Error('library missing')),
    };
    const broken: PlannedAccount = {
      kind: 'broken',
      channel: 'broken',
      account: 'default',
      reason: 'token must be a token.',
    };
    const { status } = await open([broken, ready(unloadable), ready(good.definition)]);
    const states = new Map(status().map(({ channel, state }) => [channel, state]));
    expect(states.get('good')).toEqual({ kind: 'connected', as: '@good' });
    expect(states.get('unloadable')).toMatchObject({ kind: 'failed', reason: 'library missing' });
    expect(states.get('broken')).toMatchObject({
      kind: 'failed',
      reason: 'token must be a token.',
    });
    expect(await good.say('hello')).toMatchObject({ kind: 'accepted' });
  });

  it('[D05] notifies the owner about an account that stops working, through another account, once a day', async () => {
    const [good, bad] = [platform('good'), platform('bad')];
    const rules = { ...RULES, owners: ['good:u', 'bad:u'] };
    await open([ready(good.definition, rules), ready(bad.definition, rules)]);
    await good.say('hello');
    // The owner's last message came through the failing account.
    await bad.say('hello');
    const failed = { kind: 'failed', reason: 'no intent', fix: 'Switch it on.' } as const;
    for (const state of [failed, failed]) bad.report(state);
    await expect.poll(() => good.sent.length).toBe(1);
    expect(good.sent[0]?.body.plain).toBe('⚙️ bad/default is not working: no intent. Switch it on.');
    good.report(failed);
    await good.say('again');
    expect(good.sent).toHaveLength(1);
    // The notice becomes part of the conversation, so that the owner can ask the agent about it.
    const conversationId = toConversationId(messageIn('good', ''));
    const work = { conversationId, owner: 'w', leaseMs: 10_000 };
    const begun = await store.lanes.begin(work, 'collect', 't1', 1);
    const { groupContext = [] } = begun.kind === 'turn' ? begun.turn : {};
    expect(groupContext).toMatchObject([
      { senderId: 'Parley itself', text: expect.stringContaining('is not working') },
    ]);
  });

  it('[D12] opens, closes and reopens accounts whose settings change, and keeps the others connected', async () => {
    const [same, moved, gone, added] = ['same', 'moved', 'gone', 'added'].map(platform);
    const running = await open(
      [same, moved, gone].flatMap((one) => (one ? [ready(one.definition)] : [])),
    );
    happened = [];
    const plans = [same, moved, added].flatMap((one) => (one ? [ready(one.definition)] : []));
    const changed = plans.map((one): PlannedAccount => {
      if (one.kind !== 'ready') return one;
      const isMoved = one.plan.definition === moved?.definition;
      const policy = {
        ...RULES.policy,
        access: { ...RULES.policy.access, direct: 'disabled' } as const,
      };
      const settings = isMoved ? { token: 'other' } : {};
      return { ...one, plan: { ...one.plan, settings, rules: { ...RULES, policy } } };
    });
    expect(await same?.say('before')).toMatchObject({ kind: 'accepted' });
    await running.reload(changed, { ...SERVICES, report: createTestStatus({ agent: 'Molly' }) });
    expect(happened.toSorted()).toEqual([
      'added started with {}',
      'gone stopped',
      'moved started with {"token":"other"}',
      'moved stopped',
    ]);
    expect(running.status().map(({ channel, state }) => [channel, state.kind])).toEqual([
      ['same', 'connected'],
      ['moved', 'connected'],
      ['added', 'connected'],
    ]);
    expect(await same?.say('after')).toMatchObject({ kind: 'refused' });
    expect(JSON.parse(await get('/api/status/report'))).toMatchObject({ agent: 'Molly' });
    expect(await get('/channels/gone/default/x')).toContain('no channel gone/default');
  });

  it('[F15] [D12] keeps a hosted account connected until its package or its settings change', async () => {
    const { definition } = platform('hosted');
    const hosting = (hosts: string) => [ready({ ...definition, hosts })];
    const running = await open(hosting('@acme/one'));
    happened = [];
    await running.reload(hosting('@acme/one'), SERVICES);
    expect(happened).toEqual([]);
    await running.reload(hosting('@acme/two'), SERVICES);
    expect(happened).toEqual(['hosted stopped', 'hosted started with {}']);
  });

  it('[F15] [U03] shows the address at which the platform of a hosted account calls the gateway', async () => {
    const { definition } = platform('hosted');
    const load: ChannelDefinition['load'] = async () => {
      const connect = await definition.load();
      return (context) => {
        const adapter = connect(context);
        return { ...adapter, http: { open: true, fetch: async () => new Response() } };
      };
    };
    const hosted = { ...definition, load, hosts: '@acme/one' };
    const running = await open([ready(hosted), ready({ ...definition, load, id: 'own' })]);
    expect(running.status().map(({ channel, webhook }) => [channel, webhook])).toEqual([
      ['hosted', '/channels/hosted/default/'],
      ['own', undefined],
    ]);
  });

  it("passes only web requests under an account's path to that account", async () => {
    await open([ready(platform('one').definition)]);
    expect(await get('/channels/one/default/x')).toBe('one GET');
    expect(await get('/channels/two/default/x')).toContain('no channel two/default');
    expect(JSON.parse(await get('/api/status/report'))).toMatchObject({
      agent: 'Polly',
      channels: [{ channel: 'one', state: { kind: 'connected' } }],
    });
  });

  it('[G18] removes secrets from chats and from every HTTP response, keeping JSON valid', async () => {
    const one = platform('one');
    await open([ready(one.definition)]);
    const status = await get('/api/status/report');
    expect(status).not.toMatch(/chat-key-1|12345678/);
    expect(JSON.parse(status)).toMatchObject({ mcp: 'refused: {"x-key":"[secret]"}' });
    const target = { dialect: 'plain', maxLength: 100, unit: 'utf16' } as const;
    const route = { channel: 'one', account: 'default', chatId: 'c', target };
    const bodies = [
      { text: 'with **chat-**key-1', plain: 'with chat-key-1' },
      { text: 'a link chat-key-1', plain: 'a link' },
      { text: '*as it is*', plain: 'as it is' },
    ];
    await store.outbox.enqueue(
      bodies.map((body) => ({ route, body })),
      Date.now(),
    );
    bus.publish({ type: 'delivery-due', channel: 'one', account: 'default', chatId: 'c' });
    await expect.poll(() => one.sent.length).toBe(3);
    expect(one.sent.map(({ body }) => body)).toEqual([
      { text: 'with [secret]', plain: 'with [secret]' },
      { text: 'a link [secret]', plain: 'a link' },
      { text: '*as it is*', plain: 'as it is' },
    ]);
  });

  it('[D11] stops receiving first, and still sends pending parts', async () => {
    const one = platform('one');
    const { stopReceiving, close } = await open([ready(one.definition)]);
    happened = [];
    await stopReceiving();
    expect(happened).toEqual(['one stopped']);
    const target = { dialect: 'plain', maxLength: 100, unit: 'utf16' } as const;
    const route = { channel: 'one', account: 'default', chatId: 'c', target };
    await store.outbox.enqueue([{ route, body: { text: 'late', plain: 'late' } }], Date.now());
    bus.publish({ type: 'delivery-due', channel: 'one', account: 'default', chatId: 'c' });
    await expect.poll(() => one.sent.length).toBe(1);
    await close(1_000);
    await expect(get('/healthz')).rejects.toThrow();
  });

  it('refuses to start if its port is taken, and reports the port', async () => {
    const first = await open([]);
    const port = Number(new URL(first.address).port);
    await expect(open([], port)).rejects.toMatchObject({ code: 'http-port-taken' });
  });
});
