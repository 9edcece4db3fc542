import type { InboundMessage } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { createMessage, IngressScene, OWNER_CHAT } from '../testing/ingress-scene.ts';
import { routeAgent } from './agent-route.ts';
import type { AgentRoute, AgentRules } from './rules.ts';

const GROUP = { id: '-100', type: 'group' } as const;
const ROUTES: readonly AgentRoute[] = [
  { agent: 'everyone' },
  { agent: 'onTelegram', channel: 'telegram' },
  { agent: 'desk', account: 'telegram/helpdesk' },
  { agent: 'kitchen', chat: 'telegram:-100' },
  { agent: 'anns', person: 'telegram:7' },
  { agent: undefined, person: 'telegram:8' },
  { agent: 'never', chat: 'telegram:-100' },
];

interface Case {
  readonly sender?: string;
  readonly chat?: InboundMessage['chat'];
  readonly account?: string;
  readonly channel?: string;
}

describe('choosing the agent that answers', () => {
  it.each<readonly [string, Case, string | undefined, string]>([
    ['a person, in a direct chat', { sender: '7' }, 'anns', 'the rule for this person'],
    ['a person, in a group with a rule', { sender: '7', chat: GROUP }, 'anns', 'this person'],
    ['the default agent, for a person', { sender: '8', chat: GROUP }, undefined, 'this person'],
    ['a chat, and of equal rules the first', { chat: GROUP }, 'kitchen', 'this chat'],
    [
      'a chat that has moved',
      { chat: { ...GROUP, id: '-5', movedTo: '-100' } },
      'kitchen',
      'this chat',
    ],
    [
      'all chats of a business account',
      { chat: { ...GROUP, id: '77', within: '-100' } },
      'kitchen',
      'this chat',
    ],
    ['a chat before an account', { chat: GROUP, account: 'helpdesk' }, 'kitchen', 'this chat'],
    ['an account', { account: 'helpdesk' }, 'desk', 'account telegram/helpdesk'],
    ['a channel', {}, 'onTelegram', 'channel telegram'],
    ['everything else', { channel: 'discord' }, 'everyone', 'everything else'],
    ['the same ids elsewhere', { channel: 'discord', chat: GROUP, sender: '7' }, 'everyone', ''],
  ])('[F14] follows the most specific rule: %s', (_, { sender = '1', ...place }, agent, rule) => {
    const message = {
      ...createMessage(place),
      sender: { id: sender, name: 'Ann', isBot: false },
    };
    expect(routeAgent(message, ROUTES)).toMatchObject({ agent });
    expect(routeAgent(message, ROUTES).rule).toContain(rule);
  });

  it('[F14] picks the default agent when no rule matches', () => {
    expect(routeAgent(createMessage(), [])).toEqual({
      agent: undefined,
      rule: 'the default agent',
    });
  });
});

describe('ingress with several agents', () => {
  const scene = new IngressScene();
  const agents: AgentRules = {
    id: 'main',
    routes: [{ agent: 'desk', chat: 'telegram:-100' }],
    rights: new Map([
      [undefined, { owners: ['telegram:42'] }],
      ['desk', { owners: ['telegram:7', 'web:owner'] }],
    ]),
  };
  const inDirect: AgentRules = { ...agents, routes: [{ agent: 'desk', channel: 'telegram' }] };
  const said = async (message = createMessage(), all = agents) => {
    await scene.open();
    const receive = scene.ingressWith({}, {}, { agents: all });
    const { CAPABILITIES } = await import('@parley/core/testing');
    return receive(message, CAPABILITIES);
  };

  it('[F14] gives each agent its own conversation, and reports which agent answered and why', async () => {
    const chat = { ...GROUP, title: 'Kitchen' };
    const outcome = await said(createMessage({ chat, addressed: true }));
    expect(outcome).toMatchObject({ conversationId: '@desk/telegram:default:-100' });
    const place = { ...OWNER_CHAT, chatId: '-100' };
    const [story] = await scene.store.decisions.stories(place, 5, 'desk');
    expect(story?.reason).toContain('answered by desk (the rule for this chat)');
    expect(await scene.store.decisions.stories(place, 5)).toEqual([]);
  });

  it('[F14] treats an owner of one agent as a stranger to another', async () => {
    expect(await said()).toMatchObject({ kind: 'accepted' });
    expect(await said(createMessage(), inDirect)).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('not on the allow list'),
    });
    const own = {
      ...createMessage({ chat: { id: '7', type: 'direct' } }),
      sender: { id: '7', name: 'Bo', isBot: false },
    };
    expect(await said(own, inDirect)).toMatchObject({ conversationId: '@desk/telegram:default:7' });
  });

  it('[F14] lets a web chat choose among the existing agents', async () => {
    const web = (id: string) => ({
      ...createMessage({ channel: 'web', chat: { id, type: 'direct' } }),
      sender: { id: 'owner', name: 'Owner', isBot: false },
    });
    expect(await said(web('@desk/main'))).toMatchObject({
      conversationId: '@desk/web:default:%40desk%2Fmain',
    });
    expect(await said(web('@gone/main'))).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('no such agent'),
    });
  });

  it('[F05] [F14] lets only an owner of the agent that a stranger wrote to decide about that stranger', async () => {
    const stranger = {
      ...createMessage({ chat: { id: '9', type: 'direct' } }),
      sender: { id: '9', name: 'Cy', isBot: false },
    };
    const { CAPABILITIES } = await import('@parley/core/testing');
    await scene.open();
    const pairing = {
      access: {
        direct: 'pairing',
        groups: 'open',
        allow: [],
        allowGroups: [],
        groupCommands: 'administrators',
      },
    } as const;
    const routes = [{ agent: 'desk', person: 'telegram:9' }];
    const receive = scene.ingressWith(pairing, {}, { agents: { ...agents, routes } });
    await receive(stranger, CAPABILITIES);
    await receive(createMessage({ messageId: 'p1', text: '/pair AAAA2222' }), CAPABILITIES);
    expect(await scene.store.pairing.isAllowed('telegram', 'default', '9')).toBe(false);
    expect((await scene.told()).at(-1)).not.toContain('Cy');
  });
});
