import { isFullRun } from '@parley/core/testing';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { startTelegramScene, type TelegramScene } from '../e2e/telegram-scene.ts';
import { type FaultyProxy, startFaultyProxy } from '../services/faulty-proxy.ts';
import { createFreshDatabase, type FreshDatabase } from '../services/fresh-database.ts';

const postgresUrl = inject('postgresUrl');

/** Chats of people who may write. */
const CHATS = Array.from({ length: isFullRun() ? 12 : 5 }, (_, nth) => 600 + nth);

describe.runIf(postgresUrl)('a database that is slow or unavailable', () => {
  let database: FreshDatabase;
  let proxy: FaultyProxy;
  let scene: TelegramScene;
  beforeAll(async () => {
    database = await createFreshDatabase(postgresUrl ?? '');
    proxy = await startFaultyProxy(database.url);
    scene = await startTelegramScene({}, { store: { url: proxy.url } }, { allow: CHATS });
    // The work of doubles and tests in this process must not cost a lease.
    await scene.startApart();
  });
  afterEach(async () => {
    proxy.delay(0);
  });
  afterAll(async () => {
    await scene.close();
    await proxy.close();
    await database.drop();
  });

  /** Everyone writes several messages; the numbers in them increase. */
  let written = 0;
  const askAll = (count: number): void => {
    for (let nth = 0; nth < count; nth += 1) {
      written += 1;
      for (const chat of CHATS) scene.telegram.say({ chat, text: `${chat} asks ${written}` });
    }
  };
  const numbersIn = (chat: number): readonly number[] =>
    scene.answers(chat).map((text) => Number(/asks (\d+)$/.exec(text)?.[1]));
  /**
   * Waits until the last message of each chat is answered; no answer may be duplicated or out of
   * order, and no message lost.
   */
  const expectAllInOrder = async (): Promise<void> => {
    for (const chat of CHATS) {
      await scene.telegram.waitFor(() => numbersIn(chat).at(-1) === written, 100_000);
      const numbers = numbersIn(chat);
      expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    }
    // Messages that waited together have one answer, which names the last of them.
    const asked = JSON.stringify(scene.model.requests.map(({ body }) => body.messages));
    for (const chat of CHATS) {
      for (let nth = 1; nth <= written; nth += 1) expect(asked).toContain(`${chat} asks ${nth}`);
    }
  };

  it('[D02] [D05] answers all messages in order at 200 ms per query, and no lease is lost', {
    timeout: 180_000,
  }, async () => {
    proxy.delay(200);
    // Longer than a lease lasts without renewal, with all turns running concurrently.
    const held = CHATS.map((chat) => scene.hold(`${chat} asks 1`));
    // Each chat asks one question, because the model would only be asked about the last of several.
    askAll(1);
    await Promise.all(held.map(({ asked }) => asked));
    askAll(2);
    await new Promise((wake) => setTimeout(wake, 12_000));
    for (const one of held) one.release();
    await expectAllInOrder();
    expect(scene.parley.err()).not.toContain('"fenced"');
  });

  it('[D01] [D05] does not lose messages when it is unavailable for 5 s, and unstored messages are not confirmed', async () => {
    askAll(3);
    await proxy.cut();
    askAll(3);
    await new Promise((wake) => setTimeout(wake, 5_000));
    await proxy.restore();
    await expectAllInOrder();
    askAll(1);
    await expectAllInOrder();
  });
});
