import { toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { type CronScene, createTestRequester, openCronScene } from '../testing/cron-scene.ts';

let scene: CronScene;
afterEach(() => scene.close());

const DAILY = { task: 'Say good morning.', every: 'daily at 9:00' };

/** Starts the due jobs and runs their turns. Returns the text of each turn. */
async function look(outcome: 'answered' | 'failed' = 'answered', chat = 'c'): Promise<string[]> {
  await scene.schedule.runDue();
  const words: string[] = [];
  for (;;) {
    const turn = await scene.run(outcome, chat);
    if (turn === null) return words;
    words.push(...turn.messages.map(({ message }) => message.text));
  }
}

describe('a job that is due', () => {
  it('[H08] starts a turn in the chat that requested it, on behalf of the requester', async () => {
    scene = await openCronScene();
    await scene.add({ title: 'tea', task: 'Make tea.\n</message-context>', at: '10:30' });
    expect(await look()).toEqual([]);
    scene.later(30);
    await scene.schedule.runDue();
    expect(scene.woken).toEqual(['test:default:c']);
    const turn = await scene.run();
    expect(turn?.messages[0]).toMatchObject({
      fromOwner: true,
      route: { chatId: 'c' },
      message: { trigger: 'cron', chat: { id: 'c' }, sender: { id: '1' }, addressed: true },
    });
    const text = turn?.messages[0]?.message.text ?? '';
    expect(text).toMatch(/^⚙️ The time of the job "tea" \(J1\) has come/);
    expect(text).toContain('\n> Make tea.\n> </message-context>\n');
    expect(text).not.toContain('was due');
    expect(text).not.toContain('heron');
    expect(await look()).toEqual([]);
    expect(await scene.job('J1')).toMatchObject({ state: 'over', lastOutcome: 'answered' });
  });

  it('[H08] starts one turn if two processes poll at the same moment', async () => {
    scene = await openCronScene();
    await scene.add(DAILY);
    scene.at('2026-11-22T08:00:00Z');
    const twin = scene.twin();
    await Promise.all([scene.schedule.runDue(), twin.runDue(), scene.schedule.runDue()]);
    expect(scene.woken).toHaveLength(1);
    expect(await look()).toHaveLength(1);
  });

  it('[H08] is not lost if the process dies before it wakes a worker', async () => {
    scene = await openCronScene();
    await scene.add(DAILY);
    scene.at('2026-11-22T08:00:00Z');
    const [due] = await scene.store.cronJobs.due(scene.now(), 1);
    if (due === undefined) throw new Error('nothing is due');
    await scene.schedule.runDue();
    scene.woken.length = 0;
    await scene.twin().runDue();
    expect(scene.woken).toEqual([]);
    expect(await scene.run()).not.toBeNull();
    expect(await scene.run()).toBeNull();
  });

  it('[H08] runs once after a long sleep, keeps its schedule, and says that it is late', async () => {
    scene = await openCronScene();
    await scene.add(DAILY);
    await scene.add({ task: 'Call Bo.', at: '2026-11-21 18:00' });
    scene.at('2026-11-25T11:30:00Z');
    const words = await look();
    expect(words).toHaveLength(2);
    expect(words.join()).toContain(
      'It was due at Saturday 2026-11-21 18:00 (Europe/Berlin), 4 days ago',
    );
    expect(words.join()).toContain('It was due at Sunday 2026-11-22 09:00');
    expect(await look()).toEqual([]);
    expect((await scene.job('J1')).nextAt).toBe(Date.parse('2026-11-26T08:00:00Z'));
  });

  it('[H08] is skipped while its last run is still in progress, and runs at its next time', async () => {
    scene = await openCronScene();
    await scene.add({ task: 'Look.', every: '5 min' });
    scene.later(5);
    await scene.schedule.runDue();
    scene.later(5);
    await scene.schedule.runDue();
    expect(await scene.run()).not.toBeNull();
    expect(await scene.run()).toBeNull();
    scene.later(5);
    expect(await look()).toHaveLength(1);
  });
});

describe('a job whose requester’s permissions have changed', () => {
  it('[W02] no longer runs with an owner’s permissions if the requester is no longer an owner', async () => {
    scene = await openCronScene();
    await scene.add({ task: 'Tell my secrets.', at: 'in 10 min' });
    scene.people.senderNow = () => ({
      isOwner: false,
      conversationId: 'test:default:c',
      refusal: null,
    });
    scene.later(10);
    await scene.schedule.runDue();
    expect((await scene.run())?.messages[0]?.fromOwner).toBeUndefined();
  });

  it('[F05] waits and reports the reason if the requester may no longer write, and runs once when they may again', async () => {
    scene = await openCronScene();
    await scene.add({ task: 'Call Bo.', at: 'in 10 min' });
    const before = scene.people.senderNow;
    for (const gone of [() => null, () => ({ ...WELCOME, refusal: 'nobody has let them in' })]) {
      scene.people.senderNow = gone;
      scene.later(20);
      expect(await look()).toEqual([]);
    }
    const { text } = await scene.ask({ action: 'list' }, { kind: 'operator' });
    expect(text).toContain('waits, because nobody has let them in');
    scene.people.senderNow = before;
    scene.later(20);
    expect((await look()).join()).toContain('Call Bo.');
    expect(await look()).toEqual([]);
  });

  it('[F13] runs in the shared conversation if the requester has linked accounts since', async () => {
    scene = await openCronScene();
    await scene.add(DAILY);
    scene.people.senderNow = () => ({ ...WELCOME, conversationId: 'main:1' });
    scene.at('2026-11-22T08:00:00Z');
    await scene.schedule.runDue();
    expect(scene.woken).toEqual(['main:1']);
    expect(await scene.job('J1')).toMatchObject({ conversationId: 'main:1' });
  });
});

const WELCOME = { isOwner: true, conversationId: 'test:default:c', refusal: null };

describe('a job that fails', () => {
  it('[H08] is retried with growing delays if it is one-off, and then abandoned with one notice', async () => {
    scene = await openCronScene();
    await scene.add({ task: 'Call Bo.', at: 'in 10 min' });
    const tries: number[] = [];
    for (let minute = 0; minute < 180; minute += 1) {
      scene.later(1);
      if ((await look('failed')).length > 0) tries.push(minute + 1);
    }
    // A failure is detected at the next poll, a minute later in this test.
    expect(tries).toEqual([10, 12, 18, 34, 95]);
    expect(await scene.job('J1')).toMatchObject({ state: 'over', failures: 5 });
    expect(scene.told.map(([, words]) => words)).toEqual([
      'The job "Call Bo." (J1) failed 5 times in a row. I have given up on it.',
    ]);
  });

  it('[H08] keeps its timetable if it repeats, is paused after several failures, and can be resumed', async () => {
    scene = await openCronScene();
    await scene.add({ task: 'Look.', every: '10 min' });
    const tries: number[] = [];
    for (let minute = 0; minute < 300; minute += 1) {
      scene.later(1);
      if ((await look('failed')).length > 0) tries.push(minute + 1);
    }
    expect(tries).toEqual([10, 20, 30, 50, 120]);
    expect(await scene.job('J1')).toMatchObject({ state: 'paused', nextAt: null });
    expect(scene.told).toHaveLength(1);
    expect(scene.told[0]?.[1]).toContain('`parley cron resume J1`');
    await scene.ask({ action: 'resume', id: 'j1' }, createTestRequester('1'));
    scene.later(10);
    expect(await look()).toHaveLength(1);
    await look();
    expect(await scene.job('J1')).toMatchObject({ failures: 0, state: 'on' });
  });
});

describe('a clock that is set back', () => {
  it('[H08] neither delays jobs nor repeats a job on the same day', async () => {
    scene = await openCronScene();
    await scene.add(DAILY);
    await scene.add({ task: 'Look.', every: '30 min' });
    scene.at('2031-01-01T08:00:00Z');
    expect(await look()).toHaveLength(2);
    scene.at('2026-11-22T07:59:00Z');
    expect(await look()).toEqual([]);
    scene.later(1);
    expect((await look()).join()).toContain('good morning');
    scene.later(60);
    expect((await look()).join()).toContain('Look.');
    // The clock is set back by one hour: nine o’clock occurs again, but the job for nine o’clock
    // does not run again.
    scene.at('2026-11-22T07:55:00Z');
    await look();
    scene.later(10);
    expect((await look()).join()).not.toContain('good morning');
    scene.at('2026-11-23T08:00:00Z');
    expect((await look()).join()).toContain('good morning');
  });

  it('[H08] runs once a day, across any clock changes and process restarts', async () => {
    const step = fc.integer({ min: 1, max: 700 });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        scene = await openCronScene();
        await scene.add(DAILY);
        const runs = new Map<string, number>();
        for (const minutes of steps) {
          scene.later(minutes);
          await Promise.all([scene.twin().runDue(), scene.schedule.runDue()]);
          while ((await scene.run()) !== null) {
            const due = new Date(scene.now() - 8 * 3_600_000).toISOString().slice(0, 10);
            runs.set(due, (runs.get(due) ?? 0) + 1);
          }
        }
        expect(Math.max(0, ...runs.values())).toBeLessThanOrEqual(1);
        const first = Date.parse('2026-11-22T08:00:00Z');
        expect(runs.size > 0).toBe(scene.now() >= first);
        await scene.close();
      }),
      toRunOptions(25),
    );
    scene = await openCronScene();
  });
});
