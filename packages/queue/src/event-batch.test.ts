import type { LiveEvent } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { createEventBatch } from './event-batch.ts';

const delta = (turnId: string, text: string, more = {}): LiveEvent => ({
  type: 'turn-delta',
  conversationId: 'c',
  turnId,
  text,
  ...more,
});
const ended = (turnId: string): LiveEvent => ({
  type: 'turn-ended',
  conversationId: 'c',
  turnId,
  outcome: 'answered',
});
const stop: LiveEvent = { type: 'stop-turn', conversationId: 'c' };

function batchOf(...events: LiveEvent[]) {
  const batch = createEventBatch();
  for (const event of events) batch.add(event);
  return batch;
}

describe('an event batch', () => {
  it('joins the deltas of each turn, even when several turns stream at the same time', () => {
    const batch = batchOf(delta('a', '1'), delta('b', '1'), delta('a', '2'), delta('b', '2'));
    expect(batch.take()).toEqual([delta('a', '12'), delta('b', '12')]);
    expect(batch.isEmpty).toBe(true);
  });

  it('does not join deltas across a step, a change of the quoted message, or the end of a turn', () => {
    const events = [
      delta('a', '1'),
      delta('a', '2', { step: 1 }),
      delta('a', '3', { step: 1, replyToMessageId: 'm' }),
      ended('a'),
      delta('a', '4'),
    ];
    expect(batchOf(...events).take()).toEqual(events);
  });

  it('does not join deltas with events that were already taken', () => {
    const batch = batchOf(delta('a', '1'));
    batch.take();
    batch.add(delta('a', '2'));
    expect(batch.take()).toEqual([delta('a', '2')]);
  });

  it('[D07] limits the number of events, and when it refuses further deltas, still has space for a stop', () => {
    const batch = createEventBatch();
    for (let i = 0; i < 5_000; i += 1) batch.add(delta(`t${i}`, 'x'));
    batch.add(stop);
    batch.add(ended('t1'));
    for (let i = 0; i < 10; i += 1) batch.add(delta('t1', 'x'.repeat(300_000)));
    const taken = batch.take();
    expect(taken).toHaveLength(1_000 + 2);
    expect(taken.slice(-2)).toEqual([stop, ended('t1')]);
    for (let i = 0; i < 5_000; i += 1) batch.add(stop);
    expect(batch.take()).toHaveLength(2_000);
  });

  it("[D07] limits the total length of the events' text", () => {
    const batch = createEventBatch();
    for (let i = 0; i < 10; i += 1) batch.add(delta('t', 'x'.repeat(300_000)));
    expect(batch.take()).toEqual([delta('t', 'x'.repeat(900_000))]);
  });
});
