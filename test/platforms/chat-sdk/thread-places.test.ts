import { generateKeyPairSync } from 'node:crypto';
import { createGoogleChatAdapter } from '@chat-adapter/gchat';
import { createGitHubAdapter } from '@chat-adapter/github';
import { createLinearAdapter } from '@chat-adapter/linear';
import { createSlackAdapter } from '@chat-adapter/slack';
import { createTeamsAdapter } from '@chat-adapter/teams';
import { createWhatsAppAdapter } from '@chat-adapter/whatsapp';
import { createInMemoryAdapterValues } from '@parley/core/testing';
import type { Adapter } from 'chat';
import { describe, expect, it } from 'vitest';
import { LocationConverter } from '../../../packages/channel-chat-sdk/src/places.ts';

const b64 = (text: string) => Buffer.from(text).toString('base64url');
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const key = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
const service = b64('https://smba.example.com/');

const slack = createSlackAdapter({ botToken: 'xoxb-1', signingSecret: 's' });
const teams = createTeamsAdapter({ appId: 'a', appPassword: 'p', appTenantId: 't' });
const gchat = createGoogleChatAdapter({
  credentials: { client_email: 'a@b.c', private_key: key },
  googleChatProjectNumber: '1',
} as never);
const github = createGitHubAdapter({ token: 't', webhookSecret: 's', userName: 'bot' } as never);
const linear = createLinearAdapter({ apiKey: 'k', webhookSecret: 's', userName: 'bot' } as never);
const whatsapp = createWhatsAppAdapter({
  ...{ accessToken: 'a', appSecret: 's', phoneNumberId: '1', verifyToken: 'v' },
} as never);
const click = (type: string) => ({ chat: { buttonClickedPayload: { space: { type } } } });

type Case = [what: string, adapter: unknown, threadId: string, place: object, raw?: unknown];
const CASES: readonly Case[] = [
  ['a direct chat of Slack', slack, 'slack:D1:', { chatId: 'D1', isDirect: true }],
  [
    'a thread of Slack',
    slack,
    'slack:C1:1.2',
    { chatId: 'C1', threadId: '1.2', root: '1.2', isDirect: false },
  ],
  [
    'a direct chat of Teams',
    teams,
    `teams:${b64('a:1')}:${service}`,
    { chatId: 'a:1', isDirect: true },
  ],
  [
    'a thread of Teams',
    teams,
    `teams:${b64('19:x@thread.tacv2;messageid=7')}:${service}`,
    { chatId: '19:x@thread.tacv2', threadId: '7', root: '7', isDirect: false },
  ],
  [
    'a group chat of Teams',
    teams,
    `teams:${b64('19:x@thread.v2')}:${service}`,
    { chatId: '19:x@thread.v2', isDirect: false },
  ],
  [
    'a direct chat of Google Chat',
    gchat,
    'gchat:spaces/A:dm',
    { chatId: 'spaces/A', isDirect: true },
  ],
  [
    'a press in a direct chat of Google Chat',
    gchat,
    `gchat:spaces/A:${b64('spaces/A/threads/T')}`,
    { chatId: 'spaces/A', isDirect: true },
    click('DM'),
  ],
  [
    'a thread of Google Chat',
    gchat,
    `gchat:spaces/A:${b64('spaces/A/threads/T')}`,
    {
      ...{ chatId: 'spaces/A', threadId: b64('spaces/A/threads/T') },
      ...{ root: 'spaces/A/messages/T.T', isDirect: false },
    },
    click('ROOM'),
  ],
  ['an issue of GitHub', github, 'github:o/r:issue:7', { chatId: 'o/r', threadId: 'issue:7' }],
  [
    'a review of GitHub',
    github,
    'github:o/r:7:rc:9',
    { chatId: 'o/r', threadId: '7:rc:9', root: '9' },
  ],
  ['a thread of Linear', linear, 'linear:i1:c:c2', { chatId: 'i1', threadId: 'c:c2', root: 'c2' }],
  ['a chat of WhatsApp', whatsapp, 'whatsapp:1:49', { chatId: '1:49', isDirect: true }],
];

describe('the route of a thread', () => {
  it.each(CASES)('[F11] is %s', async (_what, adapter, threadId, expected, raw) => {
    const values = createInMemoryAdapterValues();
    const place = await new LocationConverter(adapter as Adapter, values).of(threadId, raw);
    expect(place).toEqual({
      ...{ threadId: undefined, root: undefined, isDirect: false, ...expected },
    });
    // Another process sends to the same thread, without needing a marker for direct chats.
    const back = await new LocationConverter(adapter as Adapter, values).threadIdOf(place);
    const isPlain = place.isDirect && place.threadId === undefined;
    expect(back).toBe(isPlain ? threadId.replace(/:(?:dm|c3B\w*)?$|:$/, '') : threadId);
  });

  it('[F11] is looked up once if an event does not say whether the space is direct', async () => {
    let asked = 0;
    const adapter = Object.assign(Object.create(gchat), {
      async fetchThread() {
        asked += 1;
        return { metadata: { space: { spaceType: 'DIRECT_MESSAGE' } } };
      },
    }) as Adapter;
    const places = new LocationConverter(adapter, createInMemoryAdapterValues());
    for (const thread of ['T', 'U']) {
      const place = await places.of(`gchat:spaces/A:${b64(`spaces/A/threads/${thread}`)}`);
      expect(place).toMatchObject({ isDirect: true, threadId: undefined });
    }
    expect(asked).toBe(1);
  });
});
