import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DURABLE_POINTS } from '@parley/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type KillSite, killOf } from './kill.ts';
import { runSeries } from './series.ts';
import { NOTHING, type Tally } from './tally.ts';
import { startTelegramSide } from './telegram-side.ts';
import { openWebSide } from './web-side.ts';

// The short form: at each point a kill early in a burst, and one deeper in it that is followed by one
// of the next life. `npm run crash` is the long form.

/** The first start comes first, since only an empty folder has one. */
const ANYWHERE: readonly KillSite[] = ['start-up', 'moment', 'thinking'];
const KILLS = [
  ...ANYWHERE.map((site) => killOf(site, 0, Math.random)),
  ...DURABLE_POINTS.flatMap((point) => [0, 3].map((round) => killOf(point, round, Math.random))),
];

const root = mkdtempSync(join(tmpdir(), 'parley-crash-test-'));
let telegram: Tally = NOTHING;
let web: Tally = NOTHING;

beforeAll(async () => {
  // At the same time, because they wait for starting processes most of theirs.
  [telegram, web] = await Promise.all([
    runSeries({
      folder: join(root, 'telegram'),
      openSide: () => startTelegramSide(4),
      kills: KILLS,
    }),
    runSeries({
      folder: join(root, 'web'),
      openSide: async (folder) => openWebSide(folder, 3),
      kills: KILLS,
    }),
  ]);
}, 180_000);
afterAll(() => rmSync(root, { recursive: true }));

describe('killed at every point of the durable path, again and again', () => {
  it('was really killed, while people asked', () => {
    for (const { kills, questions } of [telegram, web]) {
      expect(kills).toBeGreaterThanOrEqual(KILLS.length);
      expect(questions).toBeGreaterThan(KILLS.length);
    }
  });

  it('[D01] [D04] loses no question and no part of an answer', () => {
    expect(telegram).toMatchObject({ lost: 0, failed: 0 });
    expect(web).toMatchObject({ lost: 0, failed: 0 });
  });

  it('[D02] keeps the order of each chat', () => {
    expect([telegram.outOfOrder, web.outOfOrder]).toEqual([0, 0]);
  });

  it('[D04] says nothing twice and is certain of all, where the channel knows repetitions', () => {
    expect(web).toMatchObject({ doubled: 0, uncertain: 0 });
  });

  it('[D04] says nothing twice on Telegram; at most one part of a chat is uncertain per kill, and told', () => {
    expect(telegram).toMatchObject({ doubled: 0, untold: 0, beyondPromise: 0 });
  });
});
