import { setTimeout as sleep } from 'node:timers/promises';
import { isDueToday, isFullRun } from '@parley/core/testing';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import type { SeparateMember } from './member.ts';
import { ANN, type DeploymentScene, openScene } from './scene.ts';

const [redisUrl, postgresUrl] = [inject('redisUrl'), inject('postgresUrl')];
/** The number of chats on each platform. */
const CHATS = isFullRun() ? 8 : 4;
const PAUSE_MS = isFullRun() ? 150 : 300;

describe.runIf(redisUrl && postgresUrl)('a deployment under load', () => {
  let scene: DeploymentScene;
  beforeEach(async () => {
    scene = await openScene({ redisUrl: redisUrl ?? '', postgresUrl: postgresUrl ?? '' });
  });
  afterEach(() => scene.close());

  it('[D09] [D11] [D04] does not lose, duplicate or reorder messages when it is restarted process by process', {
    timeout: 240_000,
  }, async () => {
    const { deployment } = scene;
    // One gateway and one worker run in separate processes whose exit codes are checked; a normal
    // run does this for only one of the two.
    const processes: SeparateMember[] = [];
    for (const [nth, role] of (['gateway', 'worker'] as const).entries()) {
      if (isDueToday(nth, 2)) processes.push(await deployment.startApart(role));
      else await deployment.start(role);
      await deployment.start(role);
    }
    const gateways = deployment.members().filter(({ role }) => role === 'gateway');
    const states = () => Promise.all(gateways.map((one) => scene.stateOf(one, 'discord')));
    await expect.poll(states).toContainEqual(expect.objectContaining({ kind: 'connected' }));
    const load = startLoad(scene);
    await load.allAnswered();
    for (const member of deployment.members()) {
      const ended = await member.end();
      if (processes.some((one) => one === member)) expect(ended).toMatchObject({ code: 0 });
      await deployment.start(member.role);
    }
    await sleep(500);
    const asked = await load.stop();
    await expect.poll(() => load.missing(), { timeout: 40_000 }).toEqual([]);
    for (const [chat, questions] of asked) expect(load.seen(chat)).toEqual(questions);
  });

  // In a normal run, the crash matrix kills gateways and workers under the same load, and counts
  // more.
  if (isFullRun()) {
    it('[D09] [D01] [D04] does not lose or duplicate messages when its gateway is killed', {
      timeout: 240_000,
    }, async () => {
      const { deployment } = scene;
      const owner = await deployment.startApart('gateway');
      await deployment.start('worker');
      await expect.poll(() => scene.stateOf(owner, 'discord')).toMatchObject({ kind: 'connected' });
      const load = startLoad(scene);
      await load.allAnswered();
      // The new gateway does not have its share of the accounts yet.
      const next = await deployment.start('gateway');
      await owner.end('SIGKILL');
      for (const channel of ['telegram', 'discord'])
        await expect.poll(() => scene.stateOf(next, channel)).toMatchObject({ kind: 'connected' });
      await load.allAnswered();
      const asked = await load.stop();
      const uncertain = (chat: string) => load.seen(chat).filter((text) => text.startsWith('⚙️'));
      // A part that was being sent is reported on Telegram, which cannot recognize a repeated send;
      // it may have arrived.
      const unexplained = () =>
        [...asked.keys()].filter((chat) => load.missing(chat).length > uncertain(chat).length);
      await expect.poll(unexplained, { timeout: 60_000 }).toEqual([]);
      for (const [chat, questions] of asked) {
        if (chat.startsWith('discord')) expect(load.seen(chat)).toEqual(questions);
        const answers = load.seen(chat).filter((text) => !text.startsWith('⚙️'));
        expect(answers).toEqual(questions.filter((question) => answers.includes(question)));
      }
    });

    it('[D09] [G16] resumes the turns of a worker that was killed', async () => {
      const { deployment, telegram, held } = scene;
      await deployment.start('gateway');
      const worker = await deployment.startApart('worker');
      const never = held.hold('slow');
      telegram.say({ chat: ANN, text: 'slow' });
      await never.asked;
      await deployment.start('worker');
      await worker.end('SIGKILL');
      await telegram.waitFor(() => scene.answers().includes('You said: slow'), 30_000);
      never.release();
      await scene.ask('next');
      expect(scene.answers()).toEqual(['You said: slow', 'You said: next']);
    });
  }
});

/** People on Telegram and Discord who keep writing; each question is different. */
function startLoad({ telegram, discord, answers }: DeploymentScene) {
  const stopped = new AbortController();
  const asked = new Map<string, string[]>();
  const places = [
    ...Array.from({ length: CHATS }, (_, index) => {
      const chat = ANN + index;
      return {
        name: `telegram ${chat}`,
        say: (text: string) => void telegram.say({ chat, text }),
        seen: () => answers(chat),
      };
    }),
    ...Array.from({ length: CHATS }, (_, index) => {
      const from = `2000000000000005${String(index).padStart(2, '0')}`;
      const channel = discord.dmWith(from);
      return {
        name: `discord ${from}`,
        say: (text: string) => void discord.say({ channel, text }),
        seen: () =>
          discord
            .conversation(channel)
            .filter((message) => message.from === 'bot')
            .map(({ visible }) => visible),
      };
    }),
  ];
  const running = (async () => {
    for (let number = 0; !stopped.signal.aborted; number += 1) {
      const place = places[number % places.length];
      if (place === undefined) return;
      const text = `question ${number}`;
      asked.set(place.name, [...(asked.get(place.name) ?? []), `You said: ${text}`]);
      place.say(text);
      await sleep(PAUSE_MS);
    }
  })();
  const seen = (name: string) => places.find((place) => place.name === name)?.seen() ?? [];
  return {
    seen,
    /**
     * Resolves when everyone has received another answer. The first answer is required, because a
     * bot cannot ask Discord for direct messages of unknown people.
     */
    async allAnswered() {
      const had = places.map(({ seen }) => seen().length);
      await expect
        .poll(() => places.every(({ seen }, nth) => seen().length > (had[nth] ?? 0)), {
          // A busy machine answers fewer questions than are asked.
          timeout: 100_000,
        })
        .toBe(true);
    },
    async stop() {
      stopped.abort();
      await running;
      return asked;
    },
    missing: (only?: string) =>
      [...asked].flatMap(([name, questions]) => {
        if (only !== undefined && only !== name) return [];
        const there = new Set(seen(name));
        return questions.filter((question) => !there.has(question)).map((one) => `${name}: ${one}`);
      }),
  };
}
