import type { InboundMessage } from '@parley/core';
import type { ClaimedTurn, InboxRow } from '@parley/store';
import { describe, expect, it } from 'vitest';
import { mayJoin } from './later-messages.ts';

const PLACE = { channel: 'test', account: 'default' } as const;
const TARGET = { dialect: 'plain', maxLength: 99, unit: 'utf16' } as const;

interface Change {
  readonly message?: Partial<InboundMessage>;
  readonly route?: Partial<InboxRow['route']>;
  readonly fromOwner?: true;
}

function row(seq: number, { message = {}, route = {}, fromOwner }: Change = {}): InboxRow {
  return {
    seq,
    conversationId: 'c',
    receivedAt: 0,
    route: { ...PLACE, chatId: 'c', target: TARGET, ...route },
    message: {
      ...PLACE,
      messageId: `m${seq}`,
      chat: { id: 'c', type: 'direct' },
      sender: { id: '1', name: 'Ada', isBot: false },
      text: 'and this',
      mentions: [],
      addressed: true,
      sentAt: 0,
      variables: {},
      ...message,
    },
    ...(fromOwner && { fromOwner }),
  };
}

const turnOf = (...messages: readonly InboxRow[]): ClaimedTurn => ({
  turnId: 't',
  conversationId: 'c',
  session: 0,
  resumed: false,
  attempts: 0,
  messages,
  groupContext: [],
  steps: [],
});

const BO = { id: '2', name: 'Bo', isBot: false };
const GROUP: InboundMessage['chat'] = { id: 'c', type: 'group' };
const FILE = [{ kind: 'image', ref: 'r' }] as const;

describe('a message that comes during a turn', () => {
  it.each<[string, Change, Change, boolean]>([
    ['of the same person joins it', {}, {}, true],
    [
      'with another name of that person joins it',
      {},
      { message: { sender: { ...BO, id: '1' } } },
      true,
    ],
    ['of somebody else waits', {}, { message: { sender: BO } }, false],
    [
      'of somebody else in a group waits',
      { message: { chat: GROUP } },
      { message: { chat: GROUP, sender: BO } },
      false,
    ],
    [
      'of the same person in a group joins it',
      { message: { chat: GROUP } },
      { message: { chat: GROUP } },
      true,
    ],
    ['that an owner wrote waits where the turn is not an owner’s', {}, { fromOwner: true }, false],
    ['that no owner wrote waits where the turn is an owner’s', { fromOwner: true }, {}, false],
    ['of another chat waits', {}, { message: { chat: { id: 'd', type: 'direct' } } }, false],
    ['whose answer goes elsewhere waits', {}, { route: { chatId: 'd' } }, false],
    ['of another thread waits', {}, { route: { threadId: '7' } }, false],
    ['of another platform waits', {}, { message: { channel: 'other' } }, false],
    ['with a file waits', {}, { message: { attachments: [...FILE] } }, false],
    ['that is a command waits', {}, { message: { text: ' /compact' } }, false],
    ['with other variables waits', {}, { message: { variables: { order: '7' } } }, false],
    ['of Parley itself waits', {}, { message: { trigger: 'sub-agent' } }, false],
    ['waits where Parley itself began the turn', { message: { trigger: 'cron' } }, {}, false],
  ])('[D03] %s', (_what, startedWith, came, expected) => {
    expect(mayJoin(turnOf(row(1, startedWith)), row(2, came))).toBe(expected);
  });

  it('[D03] waits where Parley itself said something in the turn', () => {
    const turn = turnOf(row(1, { message: { trigger: 'cron' } }), row(2));
    expect(mayJoin(turn, row(3))).toBe(false);
  });
});
