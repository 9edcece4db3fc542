import { HOSTILE_SCHEMAS } from '@parley/core/testing/hostile-schemas';
import { afterEach, describe, expect, it } from 'vitest';
import { type CronScene, createTestRequester, openCronScene } from '../testing/cron-scene.ts';

let scene: CronScene;
afterEach(() => scene.close());

const DAILY = { task: 'Say good morning.', every: 'daily at 9:00' };
const OPERATOR = { kind: 'operator' } as const;

async function words(by = createTestRequester('1')): Promise<string> {
  return (await scene.ask({ action: 'list' }, by)).text;
}

describe('the cron service', () => {
  it('[H08] reports when a new job will run, and adds it once per call', async () => {
    scene = await openCronScene();
    await scene.add(DAILY);
    const by = createTestRequester('1');
    if (by.kind !== 'chat') throw new Error('nobody writes');
    const { route } = await scene.job('J1');
    const order = { action: 'add', askedBy: 'call:2', origin: by.message, route } as const;
    const again = await scene.ask({ ...order, fields: { task: 'other', at: '18:00' } }, by);
    expect(again.text).toBe(
      'The job "Say good morning." (J1) is set: cron 0 9 * * * (Europe/Berlin). Next: Sunday 2026-11-22 09:00, Monday 2026-11-23 09:00, Tuesday 2026-11-24 09:00 (Europe/Berlin).',
    );
    expect(await words()).toBe(
      '"Say good morning." (J1): cron 0 9 * * * (Europe/Berlin); next Sunday 2026-11-22 09:00',
    );
  });

  it('[H08] stores only the chat and the sender of the requesting message', async () => {
    scene = await openCronScene();
    await scene.add(DAILY);
    expect(JSON.stringify(await scene.job('J1'))).not.toContain('heron');
  });

  it('[H08] does not change jobs when it lists or shows them', async () => {
    scene = await openCronScene();
    await scene.add(DAILY);
    const before = await scene.job('J1');
    scene.later(3 * 24 * 60);
    await words();
    await scene.ask({ action: 'show', id: 'J1' }, OPERATOR);
    expect(await scene.job('J1')).toEqual(before);
  });

  it('[H08] reports the limits if there are too many jobs', async () => {
    scene = await openCronScene();
    for (let count = 0; count < 3; count += 1) await scene.add(DAILY);
    expect(await scene.add(DAILY)).toBe(
      'Not added: the limits are 3 jobs per conversation and per guest, and 4 in total, the last tenth of which is reserved for owners. Remove one first.',
    );
  });

  it('[H08] pauses, resumes, changes, runs and removes a job', async () => {
    scene = await openCronScene();
    await scene.add(DAILY);
    const ask = async (action: 'pause' | 'resume' | 'run' | 'remove') =>
      (await scene.ask({ action, id: 'j1' }, createTestRequester('1'))).text;
    expect(await ask('pause')).toContain('paused');
    expect(await ask('run')).toContain('Resume it first');
    expect(await ask('resume')).toContain('next Sunday 2026-11-22 09:00');
    expect(await ask('resume')).toContain('is not paused');
    const change = {
      action: 'change',
      id: 'J1',
      fields: { at: '18:00', title: 'evening' },
    } as const;
    expect((await scene.ask(change, createTestRequester('1'))).text).toContain(
      'once, Saturday 2026-11-21 18:00',
    );
    await ask('run');
    await scene.schedule.runDue();
    expect(await scene.run()).not.toBeNull();
    expect(await ask('resume')).toContain('next Saturday 2026-11-21 18:00');
    expect(await ask('remove')).toBe('The job "evening" (J1) is removed.');
    expect(await ask('remove')).toContain('There is no job "j1"');
    expect(await words()).toBe('There are no jobs.');
  });

  it('[P04] answers in JSON if the job requests it, from its next run on and in other chats as well', async () => {
    scene = await openCronScene();
    const schema = '{"type": "object", "required": ["open"]}';
    expect(await scene.add({ ...DAILY, format: '{"type": "objekt"}' })).toContain(
      'Unsupported type',
    );
    expect(await scene.add({ ...DAILY, format: 'yaml' })).toContain(
      'neither `json` nor a JSON Schema',
    );
    const id = await scene.add({ ...DAILY, format: schema });
    const ask = async (fields: object, target?: object) =>
      (await scene.ask({ action: 'change', id, fields, ...target }, OPERATOR)).text;
    const wanted = async () => {
      await scene.ask({ action: 'run', id }, OPERATOR);
      scene.later(1);
      await scene.schedule.runDue();
      return (await scene.run())?.messages[0]?.message.responseFormat;
    };
    expect(await words()).toContain('answers in JSON');
    expect(await wanted()).toEqual(JSON.parse(schema));
    await ask({ title: 'orders' });
    const { origin, route } = await scene.job(id);
    await ask({}, { target: { origin: { ...origin, responseFormat: undefined }, route } });
    expect(await wanted()).toEqual(JSON.parse(schema));
    await ask({ format: 'json' });
    expect(await wanted()).toBe('json');
    await ask({ format: 'none' });
    expect(await wanted()).toBeUndefined();
    expect(await words()).not.toContain('JSON');
  });

  it('[D13] refuses a response format that could take forever to check', async () => {
    scene = await openCronScene();
    for (const { what, schema } of HOSTILE_SCHEMAS) {
      const said = await scene.add({ ...DAILY, format: JSON.stringify(schema) });
      expect([what, said]).toEqual([what, expect.stringContaining('The format must be json, or')]);
    }
  });

  it('[H08] forgets finished jobs after a week', async () => {
    scene = await openCronScene();
    await scene.add({ task: 'Call.', at: 'in 10 min' });
    scene.later(10);
    await scene.schedule.runDue();
    scene.later(8 * 24 * 60);
    await scene.add(DAILY);
    // A clock that is a week ahead is not proof, so ages count only up to the time of the last
    // retention run.
    expect(await words()).toContain('Call.');
    await scene.countAges();
    await scene.add(DAILY);
    expect(await words()).not.toContain('Call.');
  });
});

describe('a job on the page', () => {
  it('[H08] [U03] has its next runs and its timetable in written form', async () => {
    scene = await openCronScene();
    for (const fields of [
      { task: 'a', at: '18:00' },
      { task: 'b', every: '90 min' },
      { task: 'c', cron: '0 9 * * mon', timeZone: 'Asia/Tokyo' },
    ]) {
      await scene.add(fields);
    }
    const before = await scene.views();
    expect(before.map(({ next }) => next.length)).toEqual([1, 3, 3]);
    expect(before.map(({ nextAt, next }) => next[0] === nextAt)).toEqual([true, true, true]);
    for (const { id, written } of before) {
      await scene.ask({ action: 'change', id, fields: written }, OPERATOR);
    }
    const timesOf = (views: typeof before) => views.map(({ when, next }) => [when, next]);
    expect(timesOf(await scene.views())).toEqual(timesOf(before));
  });

  it('[H08] [U03] can be moved to another chat, which takes effect from the next run with the permissions of its requester', async () => {
    scene = await openCronScene();
    await scene.add(DAILY);
    const by = createTestRequester('2', 'g');
    if (by.kind !== 'chat') throw new Error('nobody writes');
    const { message: origin } = by;
    const route = { ...(await scene.job('J1')).route, chatId: 'g' };
    const order = { action: 'change', id: 'J1', fields: {}, target: { origin, route } } as const;
    expect((await scene.ask(order, OPERATOR)).ok).toBe(true);
    expect(await scene.job('J1')).toMatchObject({
      route: { chatId: 'g' },
      origin: { chat: { id: 'g' }, text: '' },
      fromOwner: false,
      task: DAILY.task,
    });
  });
});

describe('access to jobs', () => {
  it("[W02] is limited to the jobs in the person's chat, and for an owner in a direct chat, to all of the owner's jobs", async () => {
    scene = await openCronScene('everyone');
    await scene.add({ ...DAILY, title: 'private' });
    await scene.add({ ...DAILY, title: 'group' }, createTestRequester('1', 'g', 'guest'));
    await scene.add({ ...DAILY, title: 'bo' }, createTestRequester('2', 'b', 'guest'));
    const titles = async (by: Parameters<typeof words>[0]) =>
      [...(await words(by)).matchAll(/^"(\w+)"/gm)].map(([, title]) => title);
    expect(await titles(createTestRequester('1'))).toEqual(['private', 'group']);
    expect(await titles(createTestRequester('1', 'g', 'guest'))).toEqual(['group']);
    expect(await titles(createTestRequester('2', 'g', 'guest'))).toEqual(['group']);
    expect(await titles(createTestRequester('2', 'b', 'guest'))).toEqual(['bo']);
    const hidden = await scene.ask(
      { action: 'remove', id: 'J1' },
      createTestRequester('2', 'b', 'guest'),
    );
    expect(hidden.text).toContain('There is no job "J1"');
  });

  it('[F14] [W02] excludes another agent’s jobs in the same chat, even for that agent’s owner', async () => {
    scene = await openCronScene('everyone');
    await scene.add({ ...DAILY, title: 'private' });
    const asker = createTestRequester('1');
    if (asker.kind !== 'chat') throw new Error('somebody in a chat asks');
    const reader = { ...asker.reader, conversationId: `@desk/${asker.reader.conversationId}` };
    expect(await words({ ...asker, reader })).toBe('There are no jobs.');
  });

  it('[H08] allows only owners to create jobs, unless the settings say otherwise', async () => {
    scene = await openCronScene();
    expect(await scene.add(DAILY, createTestRequester('2', 'b', 'guest'))).toContain(
      'cron.who: everyone',
    );
    expect(await scene.add(DAILY, createTestRequester('1', 'g', 'guest'))).toBe('J2');
  });

  it('[H08] allows only owners to change another person’s job in a group', async () => {
    scene = await openCronScene('everyone');
    await scene.add(DAILY, createTestRequester('2', 'g', 'guest'));
    const pause = { action: 'pause', id: 'J1' } as const;
    expect((await scene.ask(pause, createTestRequester('3', 'g', 'guest'))).text).toContain(
      'Only the person',
    );
    expect((await scene.ask(pause, createTestRequester('2', 'g', 'guest'))).ok).toBe(true);
    expect(
      (await scene.ask({ ...pause, action: 'resume' }, createTestRequester('1', 'g', 'guest'))).ok,
    ).toBe(true);
  });
});
