import { isFullRun } from '@parley/core/testing';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type FaultyProxy, startFaultyProxy } from '../services/faulty-proxy.ts';
import type { SeparateMember } from './member.ts';
import { ANN, type DeploymentScene, openScene } from './scene.ts';

const [redisUrl, postgresUrl] = [inject('redisUrl'), inject('postgresUrl')];
const PEOPLE = isFullRun() ? 12 : 4;
/** The bound is 15 s; the machine that runs the tests may be twice as slow. */
const TIMEOUT_MS = 30_000;

describe.runIf(redisUrl && postgresUrl)('a stuck worker beside a healthy one', () => {
  let scene: DeploymentScene;
  let proxy: FaultyProxy;
  let stuck: SeparateMember;
  let asked = 0;
  const expected = new Map<number, string[]>();
  beforeAll(async () => {
    scene = await openScene({ redisUrl: redisUrl ?? '', postgresUrl: postgresUrl ?? '' });
    const { deployment } = scene;
    proxy = await startFaultyProxy(deployment.storeUrl);
    await deployment.start('gateway');
    stuck = await deployment.startApart('worker', { settings: { store: { url: proxy.url } } });
  });
  afterAll(async () => {
    await scene.close();
    await proxy.close();
  });

  const say = (chat: number, question: string): void => {
    expected.set(chat, [...(expected.get(chat) ?? []), `You said: ${question}`]);
    scene.telegram.say({ chat, text: question });
  };
  /**
   * Everyone asks a question, and the model holds its replies until the returned function is
   * called.
   */
  const askAndHold = async (): Promise<() => void> => {
    asked += 1;
    const held = Array.from({ length: PEOPLE }, (_, index) => {
      const answer = scene.held.hold(`slow ${asked}.${index}`);
      say(ANN + index, `slow ${asked}.${index}`);
      return answer;
    });
    await Promise.all(held.map((one) => one.asked));
    return () => {
      for (const one of held) one.release();
    };
  };
  const isAnswered = (chat: number): boolean =>
    scene.answers(chat).length >= (expected.get(chat)?.length ?? 0);
  /** The longest wait for an answer from now on, in ms. */
  const longestWait = async (): Promise<number> => {
    const since = Date.now();
    await expect
      .poll(() => [...expected.keys()].filter((chat) => !isAnswered(chat)), {
        timeout: TIMEOUT_MS,
        interval: 50,
      })
      .toEqual([]);
    return Date.now() - since;
  };
  const expectOnceInOrder = (): void => {
    for (const [chat, answers] of expected) expect(scene.answers(chat)).toEqual(answers);
  };

  it('[D13] [D04] is replaced by the healthy worker within 15 s, and no message is duplicated when the stuck worker resumes', {
    timeout: 240_000,
  }, async () => {
    const { deployment } = scene;
    // All turns run on the only worker.
    let release = await askAndHold();
    await deployment.start('worker');
    proxy.hold();
    release();
    for (let index = 0; index < PEOPLE; index += 1) say(ANN + PEOPLE + index, `new ${index}`);
    const cutOff = await longestWait();
    expectOnceInOrder();
    await proxy.restore();
    for (let index = 0; index < PEOPLE; index += 1) say(ANN + index, `back ${index}`);
    await longestWait();

    release = await askAndHold();
    stuck.signal('SIGSTOP');
    release();
    const stopped = await longestWait();
    stuck.signal('SIGCONT');
    for (let index = 0; index < PEOPLE; index += 1) say(ANN + index, `again ${index}`);
    await longestWait();
    expectOnceInOrder();
    process.stdout.write(
      `longest wait: cut off from the database ${cutOff} ms, stopped ${stopped} ms\n`,
    );
  });
});
