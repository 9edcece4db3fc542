import { silentLogger, silentMeter } from '@parley/core';
import type { SourceTurn } from '@parley/prompt';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LongConversation, openLongConversation } from '../testing/long-conversation.ts';
import { OWNER_CHAT } from '../testing/write-message.ts';
import { createLocalTime } from '../time.ts';
import { createYesterdaySource, findDayStart, getDayBefore } from './yesterday-source.ts';

/** The scene's messages are stored at 14:05 on 21 November in Berlin. */
const TOMORROW = Date.UTC(2026, 10, 22, 8);
const DAY = 24 * 60 * 60_000;

let talk: LongConversation;
beforeEach(async () => {
  talk = await openLongConversation({ contextTokens: 8_192, compacts: false });
  await talk.say('Remember: the code is 4711.');
});
afterEach(() => talk.scene.close());

interface Place {
  readonly conversationId?: string;
  readonly preview?: boolean;
}

function sourceAt(talk: LongConversation, zone = 'Europe/Berlin') {
  let now = TOMORROW;
  let ids = 0;
  const { scene, model } = talk;
  const source = createYesterdaySource({
    store: scene.store,
    model,
    localTime: createLocalTime(zone),
    clock: () => now,
    monotonic: () => now,
    meter: silentMeter,
    log: silentLogger,
    newId: (prefix) => {
      ids += 1;
      return `${prefix}-${ids}`;
    },
  });
  const say = async (
    kind: 'owner' | 'guest' = 'owner',
    at = TOMORROW,
    session = 0,
    { conversationId, preview = false }: Place = {},
  ) => {
    now = at;
    const { date } = createLocalTime(zone)(at);
    const [first] = talk.atHand;
    if (first === undefined) throw new Error('there was no turn');
    const reader = { kind, conversationId: OWNER_CHAT };
    const { fix, ...more } = first;
    const turn: SourceTurn = {
      ...more,
      reader,
      session,
      facts: { ...first.facts, date },
      ...(conversationId !== undefined && { conversationId }),
      ...(!preview && fix !== undefined && { fix }),
    };
    const { yesterday } = await source.gather(turn);
    await source.settled();
    return yesterday;
  };
  return { say };
}

describe('the summary of yesterday’s conversation', () => {
  it('[G11] is written once, after the first turn of a day, and is included in the prompt from then on', async () => {
    const { say } = sourceAt(talk);
    expect(await say()).toBeUndefined();
    expect(talk.summaries).toHaveLength(1);
    const told = await say();
    expect(told).toMatchObject({ audience: { kind: 'owner' } });
    expect(told?.text).toContain('the code is 4711');
    // Another instance of the source finds the summary in the store, as after a restart.
    expect(await sourceAt(talk).say()).toEqual(told);
    expect(talk.summaries).toHaveLength(1);
  });

  it('[G11] is absent after a day without messages, two days later, and after /new', async () => {
    const { say } = sourceAt(talk);
    for (const [at, session] of [
      [TOMORROW + DAY, 0],
      [TOMORROW - DAY, 0],
      [TOMORROW, 1],
    ] as const) {
      expect(await say('owner', at, session)).toBeUndefined();
      expect(await say('owner', at, session)).toBeUndefined();
    }
    expect(talk.summaries).toHaveLength(0);
  });

  it('[G11] [W02] of an owner is never shown to other readers', async () => {
    const { say } = sourceAt(talk);
    await say();
    expect(await say('guest')).toBeUndefined();
    expect(talk.summaries).toHaveLength(2);
    const audience = { kind: 'conversation', conversationId: OWNER_CHAT };
    expect(await say('guest')).toMatchObject({ audience });
  });

  it('[G11] [W02] is shown only in its own conversation', async () => {
    const { say } = sourceAt(talk);
    await say();
    const elsewhere = { conversationId: 'd' };
    expect(await say('owner', TOMORROW, 0, elsewhere)).toBeUndefined();
    expect(await say('owner', TOMORROW, 0, elsewhere)).toBeUndefined();
    expect(talk.summaries).toHaveLength(1);
  });

  it('[G11] follows the days in the agent’s time zone', async () => {
    // 14:05 in Berlin is 02:05 on the next day in Auckland.
    const { say } = sourceAt(talk, 'Pacific/Auckland');
    await say('owner', Date.parse('2026-11-22T10:59:59Z'));
    expect(talk.summaries).toHaveLength(0);
    await say('owner', Date.parse('2026-11-22T11:00:00Z'));
    expect(talk.summaries).toHaveLength(1);
    expect(await say('owner', Date.parse('2026-11-23T10:59:59Z'))).toBeDefined();
    expect(await say('owner', Date.parse('2026-11-23T11:00:00Z'))).toBeUndefined();
  });

  it('[G11] covers only its own day, even before a day with many messages', async () => {
    const { store } = talk.scene;
    const { saidBetween } = store.transcript;
    const asked: number[] = [];
    Object.assign(store.transcript, {
      saidBetween: (...of: Parameters<typeof saidBetween>) => {
        asked.push(of[2]);
        return saidBetween(...of);
      },
    });
    await sourceAt(talk).say('owner', Date.parse('2026-11-22T22:00:00Z'));
    expect(new Set(asked)).toEqual(new Set([Date.parse('2026-11-21T23:00:00Z')]));
    expect(talk.summaries).toHaveLength(1);
  });

  it('[G11] appears in a preview, and the preview does not write one', async () => {
    const { say } = sourceAt(talk);
    const preview = { preview: true };
    expect(await say('owner', TOMORROW, 0, preview)).toBeUndefined();
    expect(talk.summaries).toHaveLength(0);
    await say();
    expect(await say('owner', TOMORROW, 0, preview)).toBeDefined();
  });

  it.each([
    ['2026-03-01', '2026-02-28'],
    ['2026-01-01', '2025-12-31'],
    ['2024-03-01', '2024-02-29'],
  ])('[G11] finds the day before %s: %s', (date, before) => {
    expect(getDayBefore(date)).toBe(before);
  });
});

describe('the beginning of a day', () => {
  it.each([
    ['Europe/Berlin', '2026-11-21T13:05:00Z', '2026-11-20T23:00:00.000Z'],
    ['Europe/Berlin', '2026-10-25T22:59:59Z', '2026-10-24T22:00:00.000Z'],
    ['Europe/Berlin', '2026-03-29T21:59:59Z', '2026-03-28T23:00:00.000Z'],
    ['Asia/Kathmandu', '2026-11-21T18:15:00Z', '2026-11-21T18:15:00.000Z'],
    // In this zone the clock skips midnight, so the day begins at one.
    ['Africa/Cairo', '2026-04-24T12:00:00Z', '2026-04-23T22:00:00.000Z'],
    ['Pacific/Auckland', '2026-11-21T13:05:00Z', '2026-11-21T11:00:00.000Z'],
  ])('[G11] in %s, the day that contains %s starts at %s', (zone, now, start) => {
    const found = findDayStart(createLocalTime(zone), Date.parse(now));
    expect(new Date(found).toISOString()).toBe(start);
  });

  it('[G11] the first moment of a day belongs to that day, and the moment before it to the previous day', () => {
    const zones = ['Europe/Berlin', 'America/Havana', 'Asia/Shanghai', 'Australia/Lord_Howe'];
    const moments = fc.date({
      min: new Date('2020-01-01'),
      max: new Date('2030-01-01'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(fc.constantFrom(...zones), moments, (zone, moment) => {
        const localTime = createLocalTime(zone);
        const start = findDayStart(localTime, moment.getTime());
        expect(localTime(start).date).toBe(localTime(moment.getTime()).date);
        expect(localTime(start - 1).date < localTime(start).date).toBe(true);
      }),
    );
  });
});
