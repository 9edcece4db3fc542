import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { locateDataFolder, startParley } from '@parley/cli';
import { systemTime } from '@parley/core';
import { isDueToday, isFullRun } from '@parley/core/testing';
import { startTelegramDouble } from '@parley/simulators/telegram';
import { describe, expect, inject, it } from 'vitest';
import { getMessageText } from '../model/chat-request.ts';
import { startModelDouble } from '../model/index.ts';
import { createFreshDatabase } from '../services/fresh-database.ts';
import { createRedisPrefix } from '../services/fresh-redis-prefix.ts';
import { installMachineClock, type MachineClock } from './machine-clock.ts';

const PEOPLE = [501, 502, 503];
const HOUR_MS = 60 * 60_000;
const YEAR_MS = 365 * 24 * HOUR_MS;
/** Steps in each direction, including back to the real time. */
const STEPS = [-HOUR_MS, HOUR_MS, HOUR_MS, -HOUR_MS, -YEAR_MS, YEAR_MS, YEAR_MS, -YEAR_MS];
/**
 * The steps share one installation, because a start takes a second and losing leases takes longer.
 */
const STEPS_OF_EACH = [
  ...[[-YEAR_MS, YEAR_MS], [HOUR_MS]].filter((_, nth) => isDueToday(nth, 2)),
  ...(isFullRun() ? [[-HOUR_MS, HOUR_MS], [YEAR_MS]] : []),
];
/**
 * Anything that waited for the clock would need an hour. Everything else takes a few seconds. If
 * the leases of an account and of a turn are both lost, their waits add up, and a busy machine
 * takes longer. In ms.
 */
const ANSWERED_WITHIN_MS = 100_000;
/**
 * A notice in a chat when a busy machine paused past the lease of its account in the middle of a
 * send (D04).
 */
const UNCERTAIN = 'I was interrupted while sending a message';

describe('a clock that is set while messages are in progress', () => {
  it('[D13] [D05] does not delay answers in one process', async () => {
    await using opened = new AsyncDisposableStack();
    const clock = opened.use(installMachineClock());
    await answersAll(clock, await startScene(opened, {}), STEPS);
  }, 300_000);

  const [redisUrl, postgresUrl] = [inject('redisUrl'), inject('postgresUrl')];
  describe.skipIf(redisUrl === null || postgresUrl === null)('on PostgreSQL and Redis', () => {
    it.each(STEPS_OF_EACH.map((steps) => ({ steps })))(
      '[D13] [D05] does not delay answers when set by $steps ms',
      async ({ steps }) => {
        await using opened = new AsyncDisposableStack();
        const database = await createFreshDatabase(postgresUrl ?? '');
        opened.defer(database.drop);
        const clock = opened.use(installMachineClock());
        const prefix = createRedisPrefix().slice(1, -1);
        const servers = { store: { url: database.url }, queue: { url: redisUrl, prefix } };
        await answersAll(clock, await startScene(opened, servers), steps);
      },
      300_000,
    );
  });
});

type Scene = Awaited<ReturnType<typeof startScene>>;

/**
 * Everyone writes, and the clock is set while the first message is being answered; this is repeated
 * for each step.
 */
async function answersAll(
  clock: MachineClock,
  scene: Scene,
  steps: readonly number[],
): Promise<void> {
  await scene.answers('before all steps', () => {});
  for (const [nth, step] of steps.entries()) {
    await scene.answers(`step ${nth} of ${step} ms`, () => clock.step(step));
    await scene.answers(`after step ${nth}`, () => {});
  }
  expect(scene.repeated()).toEqual([]);
}

/** Parley with Telegram's rate limits, between a Telegram and a model double, in one process. */
async function startScene(opened: AsyncDisposableStack, servers: object) {
  const [telegram, model] = await Promise.all([startTelegramDouble(), startModelDouble()]);
  opened.defer(() => telegram.close());
  opened.defer(() => model.close());
  model.reply(({ messages }) => `Heard: ${getMessageText(messages.at(-1))}`);
  const folder = mkdtempSync(join(tmpdir(), 'parley-clock-'));
  opened.defer(() => rmSync(folder, { recursive: true, force: true }));
  const settings = {
    owners: PEOPLE.map((id) => `telegram:${id}`),
    model: { provider: 'openai-compatible', baseUrl: model.baseUrl, model: 'double' },
    http: { port: 0 },
    agent: { workspace: join(folder, 'workspace') },
    channels: { telegram: { token: telegram.token, apiRoot: telegram.apiRoot } },
    ...servers,
  };
  writeFileSync(join(folder, 'parley.yaml'), JSON.stringify(settings));
  const parley = await startParley({
    folder: locateDataFolder(folder, {}),
    env: {},
    ...systemTime,
    checkpoint() {},
    logTo: { write() {} },
  });
  opened.defer(() => parley.close());
  const said = (chat: number) =>
    telegram.conversation(chat).flatMap(({ from, text }) => (from === 'bot' ? [text ?? ''] : []));
  const asked: string[] = [];
  const unanswered = (chat: number) =>
    asked.filter((text) => !said(chat).some((answer) => answer.includes(text)));
  const notices = (chat: number) => said(chat).filter((text) => text.includes(UNCERTAIN));
  /** More answers are missing in this chat than notices were sent. */
  const isOwed = (chat: number) => unanswered(chat).length > notices(chat).length;
  return {
    /** Everyone writes a message and gets an answer to it. */
    async answers(what: string, meanwhile: () => void): Promise<void> {
      const total = model.total;
      asked.push(`${what}!`);
      for (const chat of PEOPLE) telegram.say({ chat, text: `${what}!` });
      await expect.poll(() => model.total, { timeout: ANSWERED_WITHIN_MS }).toBeGreaterThan(total);
      meanwhile();
      await expect
        .poll(() => PEOPLE.filter(isOwed), { timeout: ANSWERED_WITHIN_MS, message: what })
        .toEqual([]);
    },
    repeated: () =>
      PEOPLE.flatMap((chat) =>
        said(chat).filter((text, at, all) => !text.includes(UNCERTAIN) && all.indexOf(text) !== at),
      ),
  };
}
