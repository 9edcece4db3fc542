import { silentLogger, silentMeter } from '@parley/contracts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { localTimeIn } from '../local-time.ts';
import { type LongTalk, openLongTalk } from '../testing/long-talk.ts';
import { OWNER_CHAT } from '../testing/write-message.ts';
import { dayBefore, yesterdaySource } from './yesterday-source.ts';

/** The scene's messages are stored at 14:05 on 21 November, in Berlin. */
const TOMORROW = Date.UTC(2026, 10, 22, 8);
const DAY = 24 * 60 * 60_000;

let talk: LongTalk;
beforeEach(async () => {
  talk = await openLongTalk({ contextTokens: 8_192, compacts: false });
  await talk.say('Remember: the code is 4711.');
});
afterEach(() => talk.scene.close());

/** A source, and what it says to a turn at some time. */
function sourceAt(talk: LongTalk) {
  let now = TOMORROW;
  let ids = 0;
  const { scene, model } = talk;
  const source = yesterdaySource({
    store: scene.store,
    model,
    localTime: localTimeIn('Europe/Berlin'),
    clock: () => now,
    meter: silentMeter,
    log: silentLogger,
    newId: (prefix) => {
      ids += 1;
      return `${prefix}-${ids}`;
    },
  });
  const say = async (kind: 'owner' | 'guest' = 'owner', at = TOMORROW, session = 0) => {
    now = at;
    const { date } = localTimeIn('Europe/Berlin')(at);
    const [first] = talk.atHand;
    if (first === undefined) throw new Error('there was no turn');
    const reader = { kind, conversationId: OWNER_CHAT };
    const turn = { ...first, reader, session, facts: { ...first.facts, date } };
    const { yesterday } = await source.gather(turn);
    await source.settled();
    return yesterday;
  };
  return { say };
}

describe('the talk of yesterday', () => {
  it('[G11] is summed up behind the first turn of a day, once, and told from then on', async () => {
    const { say } = sourceAt(talk);
    expect(await say()).toBeUndefined();
    expect(talk.summaries).toHaveLength(1);
    const told = await say();
    expect(told).toMatchObject({ audience: { kind: 'owner' } });
    expect(told?.text).toContain('the code is 4711');
    // After a restart, too.
    expect(await sourceAt(talk).say()).toEqual(told);
    expect(talk.summaries).toHaveLength(1);
  });

  it('[G11] is nothing where nobody talked, the day after next, and after /new', async () => {
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

  it('[G11] [W02] as an owner has it is not told to another kind of reader', async () => {
    const { say } = sourceAt(talk);
    await say();
    expect(await say('guest')).toBeUndefined();
    expect(talk.summaries).toHaveLength(2);
    const audience = { kind: 'conversation', conversationId: OWNER_CHAT };
    expect(await say('guest')).toMatchObject({ audience });
  });

  it.each([
    ['2026-03-01', '2026-02-28'],
    ['2026-01-01', '2025-12-31'],
    ['2024-03-01', '2024-02-29'],
  ])('[G11] the day before %s is %s', (date, before) => {
    expect(dayBefore(date)).toBe(before);
  });
});
