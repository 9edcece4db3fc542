import type { ChatType } from '@parley/core';
import type { InboxRow } from '@parley/store';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createAgent,
  createClaimedTurn,
  openTurnScene,
  type TurnScene,
} from '../testing/turn-scene.ts';
import { CHAT, decideReader, startTurn, type TurnPurpose } from './turn.ts';

const PLACE = { channel: 'test', account: 'default' } as const;

function row(sender: string, type: ChatType, fromOwner?: true): InboxRow {
  return {
    seq: 1,
    conversationId: 'c',
    receivedAt: 0,
    route: { ...PLACE, chatId: 'c', target: { dialect: 'plain', maxLength: 9, unit: 'utf16' } },
    ...(fromOwner === undefined ? {} : { fromOwner }),
    message: {
      ...PLACE,
      messageId: 'm',
      chat: { id: 'c', type },
      sender: { id: sender, name: 'Ada', isBot: false },
      text: 'hello',
      mentions: [],
      addressed: true,
      sentAt: 0,
      variables: {},
    },
  };
}

/** A message whose answer goes to a different chat, as with some jobs. */
const elsewhere = (one: InboxRow): InboxRow => ({ ...one, route: { ...one.route, chatId: 'g' } });

/** A message whose route leads to a chat of this type, as with heartbeats and sub-agents. */
const intoChat = (one: InboxRow, chatType: ChatType): InboxRow => ({
  ...one,
  route: { ...one.route, chatType },
});

const ORIGIN = { said: [], untrustedText: false };
const HEARTBEAT: TurnPurpose = { kind: 'heartbeat', target: 'alerts', origin: ORIGIN };
const FOR_OWNER: TurnPurpose = { kind: 'sub-agent', parent: 'p', forOwner: true, origin: ORIGIN };
const FOR_GUEST: TurnPurpose = { ...FOR_OWNER, forOwner: false };

const owner = row('1', 'direct');
const linked = row('2', 'direct', true);
const guest = row('2', 'direct');

describe('a turn’s reader', () => {
  const all: readonly [string, TurnPurpose, readonly InboxRow[], string][] = [
    ['a named owner', CHAT, [owner], 'owner of c'],
    ['a guest', CHAT, [guest], 'guest of c'],
    ['an account that an owner linked', CHAT, [linked], 'owner of c'],
    [
      'a linked account with messages from before it was linked',
      CHAT,
      [guest, linked],
      'guest of c',
    ],
    ['an owner in a group', CHAT, [row('1', 'group')], 'guest of c'],
    ['an owner in a thread', CHAT, [row('1', 'thread')], 'guest of c'],
    ['a linked account in a group', CHAT, [row('2', 'group', true)], 'guest of c'],
    ['an owner whose answer goes to a group', CHAT, [elsewhere(linked)], 'guest of c'],
    ['an owner after a guest', CHAT, [guest, owner], 'owner of c'],
    ['a turn without messages', CHAT, [], 'guest of c'],
    ['alerts to an owner', HEARTBEAT, [owner], 'owner of alerts'],
    ['alerts to a linked account', HEARTBEAT, [linked], 'owner of alerts'],
    [
      'alerts to a direct route of an owner',
      HEARTBEAT,
      [intoChat(owner, 'direct')],
      'owner of alerts',
    ],
    ['alerts to a guest', HEARTBEAT, [guest], 'guest of alerts'],
    ['alerts to a group', HEARTBEAT, [row('1', 'group')], 'guest of alerts'],
    ['alerts on a route into a group', HEARTBEAT, [intoChat(owner, 'group')], 'guest of alerts'],
    ['alerts on a route into a thread', HEARTBEAT, [intoChat(linked, 'thread')], 'guest of alerts'],
    ['alerts that go elsewhere', HEARTBEAT, [elsewhere(owner)], 'guest of alerts'],
    ['a sub-agent of an owner', FOR_OWNER, [owner], 'owner of p'],
    ['a sub-agent of a linked account', FOR_OWNER, [linked], 'owner of p'],
    [
      'a sub-agent of an owner in what is no longer an owner’s chat',
      FOR_OWNER,
      [guest],
      'guest of p',
    ],
    ['a sub-agent of an owner in a group', FOR_OWNER, [row('1', 'group')], 'guest of p'],
    ['a sub-agent of an owner that reports elsewhere', FOR_OWNER, [elsewhere(owner)], 'guest of p'],
    ['a sub-agent of a guest, in an owner’s chat', FOR_GUEST, [owner], 'guest of p'],
    ['a sub-agent of a guest', FOR_GUEST, [guest], 'guest of p'],
  ];
  it.each(all)(
    '[W02] [F13] for %s is determined by the purpose and the messages',
    (_who, purpose, messages, reader) => {
      const turn = { messages, conversationId: 'c' };
      const { kind, conversationId } = decideReader(purpose, turn, ['test:1']);
      expect(`${kind} of ${conversationId}`).toBe(reader);
    },
  );

  it('[W02] is never an owner in a heartbeat or a sub-agent’s turn if the chat has a guest', () => {
    for (const [, , messages] of all) {
      const turn = { messages, conversationId: 'c' };
      const readers = [CHAT, HEARTBEAT, FOR_OWNER, FOR_GUEST].map(
        (purpose) => decideReader(purpose, turn, ['test:1']).kind,
      );
      if (readers[0] === 'guest') expect(new Set(readers)).toEqual(new Set(['guest']));
    }
  });

  it('[W02] also decides whether the facts name the operator’s folder', () => {
    const place = { agent: createAgent('/home/ada/w', 'UTC'), owners: ['test:1'] };
    const workspaceOf = (one: InboxRow) =>
      startTurn(createClaimedTurn(one), CHAT, place, 0).facts.workspace;
    expect(workspaceOf(owner)).toBe('/home/ada/w');
    expect(workspaceOf(guest)).toBe('w');
  });
});

const AGENT = { agent: createAgent('/w', 'Asia/Kolkata'), owners: ['test:1'] };
const NEW_YEAR = Date.UTC(2026, 11, 31, 23, 45);

let scene: TurnScene;
beforeEach(async () => {
  scene = await openTurnScene();
});
afterEach(() => scene.close());

describe('the runtime facts of a turn', () => {
  it('[F02] of a direct chat name the person but not a group', async () => {
    await scene.write('hello');
    const { turn } = await scene.begin();
    expect(startTurn(turn, CHAT, AGENT, NEW_YEAR).facts).toEqual({
      user: { id: 'test:1', name: 'Ada' },
      channel: 'test',
      account: 'default',
      channelUserId: '1',
      chatType: 'direct',
      messageId: 'm1',
      mentions: [],
      addressed: true,
      date: '2027-01-01',
      time: '05:15',
      timeZone: 'Asia/Kolkata',
      workspace: '/w',
      heartbeat: false,
      variables: {},
    });
  });

  it('[F02] of a thread name the group, its title and the thread', async () => {
    const chat = { id: '-9', type: 'thread', title: 'Team', threadId: '5' } as const;
    await scene.write('hello', { chat });
    const { turn } = await scene.begin('-9');
    expect(startTurn(turn, CHAT, AGENT, NEW_YEAR).facts).toMatchObject({
      chatType: 'thread',
      groupId: '-9',
      groupTitle: 'Team',
      threadId: '5',
    });
  });

  it('[F02] describe the newest message when several are answered together', async () => {
    const sender = { id: '2', name: 'Bo', isBot: false };
    const chat = { id: '-9', type: 'group' } as const;
    await scene.write('one', { chat });
    await scene.write('two', { chat, sender });
    const { turn } = await scene.begin('-9');
    const started = startTurn(turn, CHAT, AGENT, NEW_YEAR);
    expect(started.facts.user).toEqual({ id: 'test:2', name: 'Bo' });
    expect(started.account).toEqual({
      day: '2027-01-01',
      personId: 'test:2',
      groupId: 'test:default:-9',
    });
  });

  it('cannot be computed for a turn without messages, which the store never claims', () => {
    expect(() => startTurn(createClaimedTurn(), CHAT, AGENT, 0)).toThrow('has no messages');
  });
});

describe('a turn on behalf of a chat', () => {
  it('[H10] [W02] takes its facts from the chat that receives the answer, and keeps its task out of them', () => {
    const task = { ...owner, message: { ...owner.message, trigger: 'heartbeat' as const } };
    const beat = elsewhere({ ...task, message: { ...task.message, variables: { task: 'tea' } } });
    const group = {
      ...beat,
      message: { ...beat.message, chat: { id: 'lane', type: 'group' as const } },
    };
    const { facts } = startTurn(createClaimedTurn(group), HEARTBEAT, AGENT, 0);
    expect(facts).toMatchObject({ groupId: 'g', heartbeat: true, variables: {} });
  });
});
