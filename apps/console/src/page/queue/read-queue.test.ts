import { describe, expect, it } from 'vitest';
import { readQueue } from './read-queue.ts';
import { spanOf } from './span.ts';

describe('the queue of the page', () => {
  it('[U03] is read, and anything else is an empty one', () => {
    const queue = readQueue({
      now: 9,
      messages: 2,
      running: [{ turnId: 't', conversationId: 'web:c', owner: null, isSuspended: true }],
      outgoing: [{ channel: 'web', account: 'default', pending: 1 }],
      processes: [{ role: 'worker', host: 'h', pid: 7 }],
    });
    expect(queue).toMatchObject({
      messages: 2,
      waiting: [],
      running: [{ turn: 't', conversation: 'web:c', owner: '', isSuspended: true }],
      outgoing: [{ account: 'web/default', pending: 1, sending: 0 }],
      processes: [{ role: 'worker', host: 'h', pid: 7, version: '' }],
      parts: { sent: 0 },
    });
    for (const odd of [null, 'x', [], { waiting: 7 }])
      expect(readQueue(odd)).toMatchObject({ messages: 0, waiting: [] });
  });

  it.each([
    [-5, '0 s'],
    [12_400, '12 s'],
    [180_000, '3 min'],
    [18_000_000, '5 h'],
    [172_800_000, '2 d'],
  ])('[U03] says %i ms as %s', (ms, words) => {
    expect(spanOf(ms)).toBe(words);
  });
});
