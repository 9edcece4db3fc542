import type { LiveEvent } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { decodeEvents, encodeEvents, toRemoteEvent } from './event-batch.ts';

type Outcome = Extract<LiveEvent, { type: 'turn-ended' }>['outcome'];

const turn = { conversationId: 'c', turnId: 't' };
const target = { dialect: 'plain', maxLength: 1_000, unit: 'utf16' } as const;
const route = { channel: 'web', account: 'default', chatId: '1', target };

/** One example of each event type; a new type does not compile without an example. */
const EXAMPLES: { readonly [T in LiveEvent['type']]: Extract<LiveEvent, { type: T }> } = {
  'turn-started': {
    type: 'turn-started',
    ...turn,
    ...{ route: { ...route, quotes: true, acknowledge: '👀' }, messageId: 'm' },
    alsoAnswered: [{ ...route, replyToMessageId: 'c', response: 'place' }],
  },
  'turn-delta': { type: 'turn-delta', ...turn, text: 'a', step: 1, replyToMessageId: 'm' },
  'turn-ended': { type: 'turn-ended', ...turn, outcome: 'answered' },
  'tool-call': {
    type: 'tool-call',
    ...turn,
    ...{ callId: 't.0.0', tool: 'read', about: 'a.md', state: 'done', ms: 3 },
  },
  'stop-turn': { type: 'stop-turn', conversationId: 'c' },
  'message-waiting': { type: 'message-waiting', conversationId: 'c' },
  'delivery-due': { type: 'delivery-due', channel: 'web', account: 'default', chatId: '1' },
  'inbox-changed': { type: 'inbox-changed' },
  'schedule-due': { type: 'schedule-due', schedule: 'cron' },
};
const OUTCOMES: Readonly<Record<Outcome, true>> = {
  answered: true,
  silent: true,
  stopped: true,
  interrupted: true,
  failed: true,
  fenced: true,
  'handed-back': true,
  suspended: true,
  'put-off': true,
};

describe('live events between processes', () => {
  it.each(Object.values(EXAMPLES))('arrive unchanged: $type', (event) => {
    expect(decodeEvents('two', encodeEvents('one', [event]))).toEqual([event]);
  });

  it.each(Object.keys(OUTCOMES))('delivers the turn outcome %s', (outcome) => {
    const text = JSON.stringify({
      from: 'one',
      events: [{ type: 'turn-ended', ...turn, outcome }],
    });
    expect(decodeEvents('two', text)).toEqual([{ type: 'turn-ended', ...turn, outcome }]);
  });

  it('does not send text from the outbox', () => {
    const due = EXAMPLES['delivery-due'];
    expect(toRemoteEvent({ ...due, fresh: { parts: [], createdAt: 1 } })).toEqual(due);
    expect(toRemoteEvent(EXAMPLES['turn-delta'])).toBe(EXAMPLES['turn-delta']);
  });

  it('ignores events in the process that sent them', () => {
    expect(decodeEvents('one', encodeEvents('one', Object.values(EXAMPLES)))).toEqual([]);
  });

  it('skips an unknown event type from a newer version without affecting the other events', () => {
    const later = { ...EXAMPLES['stop-turn'], urgency: 3 };
    const text = JSON.stringify({ from: 'one', events: [{ type: 'turn-sung' }, null, later] });
    expect(decodeEvents('two', text)).toEqual([EXAMPLES['stop-turn']]);
  });

  it.each(['', 'null', '[]', '{"from":"one"}', '{"events":[]}'])(
    'does not decode any events from "%s"',
    (text) => {
      expect(decodeEvents('two', text)).toEqual([]);
    },
  );
});
