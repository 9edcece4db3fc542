import type { ChatType } from '@parley/contracts';
import type { ClaimedTurn, InboxRow } from '@parley/store';
import { describe, expect, it } from 'vitest';
import { agentIn } from './testing/turn-scene.ts';
import { turnReader } from './turn-opening.ts';

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

/** As a job might be stored that reports somewhere else. */
const elsewhere = (one: InboxRow): InboxRow => ({ ...one, route: { ...one.route, chatId: 'g' } });

describe('for whom a turn runs', () => {
  const deps = { agent: agentIn('/w', 'UTC'), owners: ['test:1'], clock: () => 0 };
  it.each<[string, readonly InboxRow[], 'owner' | 'guest']>([
    ['a named owner', [row('1', 'direct')], 'owner'],
    ['a guest', [row('2', 'direct')], 'guest'],
    ['an account that an owner linked', [row('2', 'direct', true)], 'owner'],
    [
      'the same with words from before that',
      [row('2', 'direct'), row('2', 'direct', true)],
      'guest',
    ],
    ['a linked account in a group', [row('2', 'group', true)], 'guest'],
    ['an owner whose answer goes to a group', [elsewhere(row('1', 'direct', true))], 'guest'],
  ])('[W02] [F13] %s', (_who, messages, kind) => {
    const turn: ClaimedTurn = {
      turnId: 't',
      conversationId: 'c',
      session: 0,
      resumed: false,
      attempts: 0,
      messages,
      overheard: [],
      steps: [],
    };
    expect(turnReader(turn, deps)).toEqual({ kind, conversationId: 'c' });
  });
});
