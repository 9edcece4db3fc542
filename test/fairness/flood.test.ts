import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isFullRun } from '@parley/core/testing';
import { openStore } from '@parley/store';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { ANN, startTelegramScene, type TelegramScene } from '../e2e/telegram-scene.ts';

let scene: TelegramScene;
afterEach(() => scene.close());

const FLOODER = 601;
const OTHERS = [602, 603, 604];
const MESSAGES = isFullRun() ? 10_000 : 500;
/** A busy machine handles the flood slowly; the model is held in the meantime. */
const PATIENT = { firstTokenMs: 300_000, chunkMs: 300_000, totalMs: 300_000 };
/** How many messages of one conversation may wait by default. */
const MAY_WAIT = 50;

/** Resident memory of a process, in MB. */
function memoryOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
}

const placeOf = (chat: number) => ({
  channel: 'telegram',
  account: 'default',
  chatId: `${chat}`,
});

/**
 * Waits until one message from each chat is accepted or refused, and returns the accepted and the
 * refused chats.
 */
async function untilDecided(chats: readonly number[]) {
  for (;;) {
    const stories = await inStore(({ decisions }) =>
      Promise.all(chats.map(async (chat) => (await decisions.stories(placeOf(chat), 1))[0])),
    );
    const withOutcome = (outcome: string) =>
      chats.filter((_, nth) => stories[nth]?.outcome === outcome);
    const [accepted, refused] = [withOutcome('waiting'), withOutcome('refused')];
    if (accepted.length + refused.length === chats.length) return { accepted, refused };
    await sleep(20);
  }
}

/** Reads the database of the running process, as a second reader. */
async function inStore<T>(look: (store: Awaited<ReturnType<typeof openStore>>) => Promise<T>) {
  const url = `sqlite:${join(scene.folder.path, 'parley.db')}`;
  const store = await openStore({ url, clock: Date.now });
  try {
    return await look(store);
  } finally {
    await store.close();
  }
}

describe(`one chat with ${MESSAGES} messages`, () => {
  it.runIf(inject('procPath'))(
    '[D05] [D07] [D08] does not delay other chats; each message is answered or refused with a reason, and the person is notified',
    {
      timeout: 300_000,
    },
    async () => {
      scene = await startTelegramScene({ timeouts: PATIENT }, {}, { allow: [FLOODER, ...OTHERS] });
      const { pid } = await scene.startApart();
      const held = scene.hold('flood 1');
      scene.telegram.say({ chat: FLOODER, text: 'flood 1' });
      await held.asked;
      const before = memoryOf(pid);
      for (let nth = 2; nth <= MESSAGES; nth += 1) {
        scene.telegram.say({ chat: FLOODER, text: `flood ${nth}` });
      }
      for (let round = 1; round <= 3; round += 1) {
        for (const chat of OTHERS) scene.telegram.say({ chat, text: `round ${round}` });
        for (const chat of OTHERS) {
          const answers = await scene.untilAnswers(chat, round, 120_000);
          expect(answers.at(-1)).toBe(`You said: round ${round}`);
        }
      }
      const place = placeOf(FLOODER);
      const stories = await inStore((store) => store.decisions.stories(place, 2 * MESSAGES));
      expect(stories).toHaveLength(MESSAGES);
      const refused = stories.filter(({ outcome }) => outcome === 'refused');
      expect(new Set(refused.map(({ reason }) => reason))).toEqual(
        new Set([`${MAY_WAIT} messages in this conversation are already waiting`]),
      );
      expect(stories.filter(({ outcome }) => outcome === 'waiting')).toHaveLength(MAY_WAIT);
      expect(refused).toHaveLength(MESSAGES - MAY_WAIT - 1);
      // The notice comes once a minute, not for each message.
      const told = scene.answers(FLOODER);
      expect(told.length).toBeGreaterThan(0);
      expect(told.length).toBeLessThan(5);
      expect(told[0]).toContain(
        'I did not accept that message, because 50 of your messages are still waiting',
      );
      expect(memoryOf(pid) - before).toBeLessThan(150);
      held.release();
      await scene.telegram.waitFor(
        () => scene.answers(FLOODER).at(-1) === `You said: flood ${MAY_WAIT + 1}`,
        30_000,
      );
      const answered = await inStore((store) => store.decisions.stories(place, 2 * MESSAGES));
      expect(answered.filter(({ turn }) => turn?.outcome === 'answered')).toHaveLength(
        MAY_WAIT + 1,
      );
    },
  );
});

describe('all chats together', () => {
  it('[D07] may wait up to a limit; beyond it each chat is notified, and refusals are recorded', async () => {
    const chats = Array.from({ length: 12 }, (_, nth) => 700 + nth);
    const limits = { totalWaiting: 4 };
    const lanes = { concurrency: 1, collectPauseMs: 0 };
    scene = await startTelegramScene({}, { limits, lanes }, { allow: chats });
    const [first = 0, ...rest] = chats;
    const held = scene.hold('the first');
    scene.telegram.say({ chat: first, text: 'the first' });
    await held.asked;
    for (const chat of rest) scene.telegram.say({ chat, text: `from ${chat}` });
    // Messages that arrive together are counted before they are stored, so the last slot may stay
    // empty.
    const { accepted, refused } = await untilDecided(rest);
    expect(accepted.length).toBeGreaterThan(2);
    expect(accepted.length).toBeLessThanOrEqual(4);
    for (const chat of refused) {
      expect(await scene.untilAnswers(chat, 1)).toEqual([
        expect.stringContaining('messages in other chats are waiting'),
      ]);
    }
    const [chat = 0] = refused;
    expect(await inStore((store) => store.decisions.stories(placeOf(chat), 9))).toMatchObject([
      { outcome: 'refused', reason: '4 messages in all chats are already waiting' },
    ]);
    held.release();
    for (const each of accepted) {
      expect(await scene.untilAnswers(each, 1)).toEqual([`You said: from ${each}`]);
    }
    scene.telegram.say({ chat, text: 'and now?' });
    expect((await scene.untilAnswers(chat, 2)).at(-1)).toBe('You said: and now?');
  });
});

describe('one person with 20 files', () => {
  it("[D05] [G19] does not delay the files of others: another person's files and the owner's files are fetched before the third file", async () => {
    scene = await startTelegramScene({}, {}, { allow: [FLOODER, ...OTHERS] });
    const [other = 0] = OTHERS;
    const idsAsked = () => [
      ...new Set(scene.telegram.calls('getFile').map(({ params }) => String(params.file_id))),
    ];
    const file = (name: string) => {
      const bytes = Uint8Array.from(Buffer.from(`This is ${name}.`));
      return { kind: 'document', name: `${name}.txt`, bytes } as const;
    };
    // The platform does not respond to requests for the first two files of the flood.
    scene.telegram.fault({ kind: 'hang', method: 'getFile', times: 2 });
    for (let nth = 1; nth <= 20; nth += 1) {
      scene.telegram.say({ chat: FLOODER, text: `report ${nth}`, file: file(`report ${nth}`) });
    }
    await scene.telegram.waitFor(() => idsAsked().length >= 2);
    const place = placeOf(FLOODER);
    await expect
      .poll(() => inStore((store) => store.decisions.stories(place, 99)), { timeout: 30_000 })
      .toHaveLength(20);
    for (const chat of [other, ANN]) {
      scene.telegram.say({ chat, text: 'what is this?', file: file(`mine ${chat}`) });
      expect(await scene.untilAnswers(chat, 1)).toEqual(['You said: what is this?']);
    }
    const shown = scene.model.requests.map(({ body }) => JSON.stringify(body.messages));
    for (const chat of [other, ANN]) {
      expect(shown.some((text) => text.includes(`This is mine ${chat}.`))).toBe(true);
    }
    // The double numbers files in the order in which they are sent.
    const numbers = idsAsked().map((id) => Number(id.split('_').at(-1)));
    expect(numbers.slice(0, 4)).toEqual([1, 2, 21, 22]);
  });
});
