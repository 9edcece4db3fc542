import type { LiveEvent } from '@parley/core';
import { CAPABILITIES, createRecordingLogger } from '@parley/core/testing';
import { createLocalBus } from '@parley/queue';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type {
  ChannelAdapter,
  ChatAddress,
  GrowingAnswer,
  StreamingCapability,
} from '../adapter.ts';
import { type Presence, startPresence } from './presence.ts';

const place = { channel: 'test', account: 'default' };
const ref = { conversationId: 'c', turnId: 't' };
const route = { ...place, chatId: '7', threadId: '9', target: CAPABILITIES.target };
const started: LiveEvent = { type: 'turn-started', ...ref, route };
const delta = (text: string): LiveEvent => ({ type: 'turn-delta', ...ref, text });
const ended = (outcome: Extract<LiveEvent, { type: 'turn-ended' }>['outcome']): LiveEvent => ({
  type: 'turn-ended',
  ...ref,
  outcome,
});

const { log, lines } = createRecordingLogger();
const bus = createLocalBus(log);
let shown: string[];
let typed: ChatAddress[];
let updateTakesMs: number;
let owed: boolean;
let mayPreview: boolean;
let updateEveryMs: number;
let presence: Presence;
let reactions: (string | undefined)[];

const textOf = async (answer: GrowingAnswer): Promise<string> =>
  (await answer.show()).map(({ text }) => text).join('⏎');

/** The platform needs typing repeated every 4 s; an answer may be shown every second. */
const adapter: ChannelAdapter = {
  capabilities: CAPABILITIES,
  start: async () => {},
  stop: async () => {},
  send: async () => ({ platformMessageId: '1' }),
  messages: { react: async (_address, id, emoji) => void reactions.push(`${id} ${emoji}`) },
  typing: { repeatMs: 4_000, show: async (address) => void typed.push(address) },
  streaming: {
    minIntervalMs: 1_000,
    async update(_address, turnId, answer) {
      const text = await textOf(answer);
      await new Promise((resolve) => setTimeout(resolve, updateTakesMs));
      shown.push(`${turnId}: ${text}`);
    },
    end: async (_address, turnId, comes) => void shown.push(`${turnId} ended: ${comes}`),
  },
};

let served: ChannelAdapter | undefined;
beforeEach(() => {
  vi.useFakeTimers();
  shown = [];
  typed = [];
  reactions = [];
  updateTakesMs = 0;
  owed = false;
  served = adapter;
  mayPreview = true;
  updateEveryMs = 0;
  presence = startPresence({
    bus,
    adapterOf: () => served,
    mayPreview: () => mayPreview,
    updateEveryMs: () => updateEveryMs,
    owes: async () => owed,
    log,
  });
});
afterEach(() => {
  presence.close();
  vi.useRealTimers();
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe('typing', () => {
  it('[F12] is not shown for an immediate answer', async () => {
    bus.publish(started);
    await pass(299);
    bus.publish(ended('answered'));
    await pass(60_000);
    expect(typed).toEqual([]);
  });

  it('[F12] is shown after 300 ms, in the chat and thread, and again before it disappears', async () => {
    bus.publish(started);
    await pass(300);
    expect(typed).toEqual([{ chatId: '7', threadId: '9' }]);
    await pass(8_000);
    expect(typed).toHaveLength(3);
  });

  it.each(['answered', 'failed', 'stopped', 'handed-back'] as const)(
    '[F12] stops when the turn is %s',
    async (outcome) => {
      bus.publish(started);
      await pass(5_000);
      bus.publish(ended(outcome));
      const before = typed.length;
      await pass(60_000);
      expect(typed).toHaveLength(before);
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  it('[F12] stops after a time limit when the end of the turn is never reported', async () => {
    bus.publish(started);
    await pass(20 * 60_000);
    const before = typed.length;
    await pass(60_000);
    expect(typed).toHaveLength(before);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('[F12] continues as one indicator when the same turn is started again', async () => {
    bus.publish(started);
    await pass(1_000);
    bus.publish(started);
    await pass(300);
    typed = [];
    await pass(4_000);
    expect(typed).toHaveLength(1);
  });

  it('[F12] is retried when it fails, without affecting the turn', async () => {
    served = { ...adapter, typing: { repeatMs: 10, show: () => Promise.reject(new Error('429')) } };
    bus.publish(started);
    await pass(1_000);
    bus.publish(delta('still here'));
    await pass(1);
    expect(shown).toEqual(['t: still here']);
  });

  it('[F12] stops when the gateway stops', async () => {
    bus.publish(started);
    await pass(1_000);
    presence.close();
    await pass(0);
    expect(vi.getTimerCount()).toBe(0);
    bus.publish(started);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a reaction on the message', () => {
  const acknowledged: LiveEvent = {
    ...{ type: 'turn-started', ...ref, messageId: 'm1' },
    route: { ...route, acknowledge: '👀' },
  };

  it('[F12] is shown while a slow answer is written, and then removed', async () => {
    bus.publish(acknowledged);
    await vi.advanceTimersByTimeAsync(1_499);
    expect(reactions).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    bus.publish(ended('answered'));
    await vi.advanceTimersByTimeAsync(1);
    expect(reactions).toEqual(['m1 👀', 'm1 undefined']);
  });

  it('[F12] is not shown when the settings define no reaction, or for a quick answer', async () => {
    bus.publish(started);
    await vi.advanceTimersByTimeAsync(2_000);
    bus.publish(acknowledged);
    bus.publish(ended('answered'));
    await vi.advanceTimersByTimeAsync(2_000);
    expect(reactions).toEqual([]);
  });
});

describe('a growing answer', () => {
  it('[D05] is not shown while the rate limit is needed for answers', async () => {
    bus.publish(started);
    mayPreview = false;
    bus.publish(delta('a'));
    await pass(1_500);
    expect(shown).toEqual([]);
    mayPreview = true;
    bus.publish(delta('b'));
    await pass(1_000);
    expect(shown).toEqual(['t: ab']);
  });

  it('[F12] is shown immediately and then once a second, each time in full', async () => {
    bus.publish(started);
    for (const text of ['a', 'b', 'c', 'd']) {
      bus.publish(delta(text));
      await pass(300);
    }
    await pass(1_000);
    expect(shown).toEqual(['t: a', 't: abcd']);
  });

  it('[F12] is shown as rarely as the settings require, and no more often than the platform permits', async () => {
    const updatesIn = async (ms: number) => {
      updateEveryMs = ms;
      shown = [];
      bus.publish(started);
      for (let at = 0; at < 6_000; at += 100) {
        bus.publish(delta('.'));
        await pass(100);
      }
      bus.publish(ended('stopped'));
      await pass(1);
      return shown.filter((line) => line.startsWith('t: ')).length;
    };
    expect([await updatesIn(3_000), await updatesIn(500)]).toEqual([2, 6]);
  });

  it('[F12] [M06] is updated less often as it grows, so that rendering takes a tenth of the time', async () => {
    let updates = 0;
    const update = async () => {
      updates += 1;
    };
    const streaming = { minIntervalMs: 1_000, maxLength: 100_000, update, end: async () => {} };
    served = { ...adapter, streaming };
    const longDelta = (thousands: number) => delta('word '.repeat(200 * thousands));
    const shownIn = async (ms: number) => {
      const before = updates;
      for (let at = 0; at < ms; at += 100) {
        bus.publish(delta('.'));
        await pass(100);
      }
      return updates - before;
    };
    bus.publish(started);
    bus.publish(longDelta(15));
    await pass(10_000);
    expect(await shownIn(10_000)).toBeGreaterThan(8);
    bus.publish(longDelta(160));
    await pass(10_000);
    expect(await shownIn(16_000)).toBeLessThan(6);
  });

  it('[D07] stops growing after a few messages, because a longer answer is eventually sent as a file', async () => {
    let messages = 0;
    let updates = 0;
    const update: StreamingCapability['update'] = async (_address, _turnId, answer) => {
      updates += 1;
      messages = (await answer.show()).length;
    };
    const streaming = { minIntervalMs: 0, maxLength: 100, update, end: async () => {} };
    served = { ...adapter, streaming };
    bus.publish(started);
    for (let nth = 0; nth < 400; nth += 1) {
      bus.publish(delta('word '.repeat(10)));
      await pass(200);
    }
    expect(messages).toBeGreaterThan(5);
    expect(messages).toBeLessThan(30);
    expect(updates).toBeLessThan(60);
  });

  it("[F12] is shown only when writing takes longer than the platform's threshold", async () => {
    const { streaming } = adapter;
    if (streaming === undefined) throw new Error('the adapter streams');
    served = { ...adapter, streaming: { ...streaming, firstAfterMs: 400 } };
    bus.publish(started);
    bus.publish(delta('quick'));
    await pass(399);
    expect(shown).toEqual([]);
    await pass(2);
    expect(shown).toEqual(['t: quick']);
    bus.publish(delta(' and on'));
    await pass(1_002);
    expect(shown).toEqual(['t: quick', 't: quick and on']);
  });

  it('[F12] [D05] keeps the pace of its chat, and does not request updates when nothing is shown', async () => {
    const { streaming } = adapter;
    if (streaming === undefined) throw new Error('the adapter streams');
    const pace = (_: ChatAddress, length: number) =>
      length < 5 ? null : { minIntervalMs: 3_000, firstAfterMs: 500 };
    served = { ...adapter, streaming: { ...streaming, pace } };
    bus.publish(started);
    bus.publish(delta('abcd'));
    await pass(5_000);
    expect(shown).toEqual([]);
    for (let length = 5; length <= 45; length += 1) {
      bus.publish(delta('.'));
      await pass(100);
    }
    expect(shown).toHaveLength(2);
  });

  it('[D02] is not shown before earlier parts that are not sent yet', async () => {
    owed = true;
    bus.publish(started);
    bus.publish(delta('one'));
    await pass(1_000);
    expect(shown).toEqual([]);
    owed = false;
    bus.publish(delta(' two'));
    await pass(1_000);
    expect(shown).toEqual(['t: one two']);
  });

  it('[F12] ends after the update in progress, and is not shown again', async () => {
    updateTakesMs = 500;
    bus.publish(started);
    bus.publish(delta('first'));
    await pass(10);
    bus.publish(delta(' second'));
    bus.publish(ended('answered'));
    await pass(60_000);
    expect(shown).toEqual(['t: first', 't ended: answer']);
  });

  it('[F12] starts again with the step after a tool call, and keeps the earlier text until then', async () => {
    bus.publish(started);
    bus.publish({ type: 'turn-delta', ...ref, step: 0, text: 'Let me **look' });
    await pass(5_000);
    bus.publish({ type: 'turn-delta', ...ref, step: 1, text: 'Found' });
    bus.publish({ type: 'turn-delta', ...ref, step: 1, text: ' it.' });
    await pass(5_000);
    expect(shown).toEqual(['t: Let me look', 't: Found', 't: Found it.']);
  });

  it('[F12] is updated less often when an update takes long', async () => {
    updateTakesMs = 3_000;
    bus.publish(started);
    for (let i = 0; i < 80; i += 1) {
      bus.publish(delta('.'));
      await pass(100);
    }
    expect(shown).toHaveLength(2);
  });

  it('[F12] survives a failed update, and shows the whole text with the next one', async () => {
    let failures = 1;
    const streaming = {
      minIntervalMs: 1_000,
      end: async () => {},
      async update(_address: ChatAddress, _turnId: string, answer: GrowingAnswer) {
        const text = await textOf(answer);
        failures -= 1;
        if (failures >= 0) throw new Error('edit refused');
        shown.push(text);
      },
    };
    served = { ...adapter, streaming };
    bus.publish(started);
    bus.publish(delta('one '));
    bus.publish(delta('two'));
    await pass(1_500);
    expect(shown).toEqual(['one two']);
  });

  it.each([
    ['answered', 'answer'],
    ['failed', 'answer'],
    ['silent', 'nothing'],
    ['stopped', 'nothing'],
    ['suspended', 'later'],
    ['handed-back', 'later'],
    ['fenced', 'later'],
  ] as const)('[F12] when its turn is %s, ends with: %s', async (outcome, comes) => {
    bus.publish(started);
    bus.publish(delta('x'));
    bus.publish(ended(outcome));
    await pass(1_000);
    expect(shown).toEqual(['t: x', `t ended: ${comes}`]);
  });

  it.each([
    ['answered', ['answer of t', 'nothing of m1']],
    ['suspended', ['later of t']],
  ] as const)(
    '[F09] removes the reaction from earlier commands that wait for an answer: %s',
    async (outcome, ends) => {
      const waiting = { ...route, replyToMessageId: 'm1', response: 'place' };
      const end = async ({ replyToMessageId = 't' }: ChatAddress, _turn: string, comes: string) =>
        void shown.push(`${comes} of ${replyToMessageId}`);
      served = { ...adapter, streaming: { minIntervalMs: 10, update: async () => {}, end } };
      bus.publish({ type: 'turn-started', ...ref, route, alsoAnswered: [waiting] });
      bus.publish(ended(outcome));
      await pass(1_000);
      expect(shown.toSorted()).toEqual(ends);
    },
  );

  it('leaves nothing in memory when its end cannot be shown', async () => {
    const end = () => Promise.reject(new Error('gone'));
    served = { ...adapter, streaming: { minIntervalMs: 10, update: async () => {}, end } };
    bus.publish(started);
    bus.publish(delta('x'));
    bus.publish(ended('answered'));
    await pass(1_000);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a turn whose chat is not served here', () => {
  it('does not show anything or start a timer', async () => {
    served = undefined;
    bus.publish(started);
    bus.publish(delta('x'));
    expect(vi.getTimerCount()).toBe(0);
  });

  it('shows nothing when the platform has neither typing nor streaming', async () => {
    const { typing: _typing, streaming: _streaming, ...bare } = adapter;
    served = bare;
    bus.publish(started);
    bus.publish(delta('x'));
    await pass(5_000);
    bus.publish(ended('answered'));
    expect({ typed, shown, lines }).toEqual({ typed: [], shown: [], lines: [] });
  });
});
