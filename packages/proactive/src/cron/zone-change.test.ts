import { decodeLiteralText } from '@parley/core';
import { afterEach, describe, expect, it } from 'vitest';
import { type CronScene, openCronScene } from '../testing/cron-scene.ts';

let scene: CronScene;
afterEach(() => scene.close());

const NEW_YORK = 'America/New_York';

/** Restarts the process with this time zone in the settings. */
async function restart(zone: string) {
  scene.zone.agent = zone;
  const started = scene.twin();
  await started.runDue();
  return started;
}

const nextOf = async (id: string) => {
  const { nextAt } = await scene.job(id);
  return nextAt === null ? null : new Date(nextAt).toISOString().slice(0, 16);
};

describe('a change of an agent’s time zone', () => {
  it('[H08] asks the owner one question about the jobs from the old zone, even across restarts and processes', async () => {
    scene = await openCronScene();
    await scene.add({ task: 'Call *Bo*.', every: '2 days at 9:00' });
    await scene.add({ task: 'Good morning.', every: 'daily at 8:00' });
    await scene.add({ task: 'Look.', every: '5 h' });
    await restart(NEW_YORK);
    await Promise.all([restart(NEW_YORK), restart(NEW_YORK)]);
    scene.later(3 * 24 * 60);
    await restart(NEW_YORK);
    expect(scene.asked).toHaveLength(1);
    const [{ markdown = '', buttons = [] } = {}] = scene.asked;
    expect(markdown).toContain(
      'My time zone is now America/New_York; it was Europe/Berlin. 2 jobs',
    );
    expect(decodeLiteralText(markdown)).toContain('(J1): every 2 days at 09:00 (Europe/Berlin)');
    expect(markdown).not.toContain('Look.');
    expect(buttons.map(({ data }) => data)).toEqual([
      '/zone move America/New_York',
      '/zone keep America/New_York',
    ]);
  });

  it('[H08] leaves jobs in their zone until the owner decides', async () => {
    scene = await openCronScene();
    await scene.add({ task: 'Good morning.', every: '2 days at 9:00' });
    await restart(NEW_YORK);
    expect(await nextOf('J1')).toBe('2026-11-22T08:00');
    scene.at('2026-11-22T08:00:00Z');
    await scene.schedule.runDue();
    expect(await nextOf('J1')).toBe('2026-11-24T08:00');
  });

  it('[H08] with "move" keeps local times in the new zone, even for one-off and paused jobs', async () => {
    scene = await openCronScene();
    await scene.add({ task: 'Good morning.', every: '2 days at 9:00' });
    await scene.add({ task: 'Call Bo.', at: '2026-11-23 18:00' });
    await scene.add({ task: 'Report.', cron: '0 9 * * mon' });
    await scene.ask({ action: 'pause', id: 'J3' }, { kind: 'operator' });
    const started = await restart(NEW_YORK);
    expect(await started.decideZone(undefined, 'move America/New_York')).toBe(
      '3 jobs keep their local time, now in America/New_York.',
    );
    expect(await nextOf('J1')).toBe('2026-11-22T14:00');
    expect(await nextOf('J2')).toBe('2026-11-23T23:00');
    expect(await nextOf('J3')).toBeNull();
    expect((await scene.job('J3')).timetable).toMatchObject({ timeZone: NEW_YORK });
    expect(await started.decideZone(undefined, 'move')).toContain('No jobs are waiting');
    scene.later(60);
    await restart(NEW_YORK);
    expect(scene.asked).toHaveLength(1);
  });

  it('[H08] with "move" does not repeat a job that has already run at its local time today', async () => {
    scene = await openCronScene();
    await scene.add({ task: 'Good morning.', every: 'daily at 9:00' });
    scene.at('2026-11-22T08:00:00Z');
    await scene.schedule.runDue();
    await scene.run();
    scene.later(60);
    const started = await restart(NEW_YORK);
    await started.decideZone(undefined, 'Move.');
    expect(await nextOf('J1')).toBe('2026-11-23T14:00');
  });

  it('[H08] with "keep" keeps the old zone permanently, and a later change does not cause a question about these jobs', async () => {
    scene = await openCronScene();
    await scene.add({ task: 'Good morning.', every: '2 days at 9:00' });
    const started = await restart(NEW_YORK);
    expect(await started.decideZone(undefined, 'keep')).toBe('One job keeps the old time zone.');
    await restart('Asia/Tokyo');
    await restart('Europe/Berlin');
    expect(await nextOf('J1')).toBe('2026-11-22T08:00');
    scene.later(24 * 60);
    await restart(NEW_YORK);
    expect(scene.asked).toHaveLength(1);
  });

  it('[H08] cannot be decided with a button from an earlier question', async () => {
    scene = await openCronScene();
    await scene.add({ task: 'Good morning.', every: '2 days at 9:00' });
    await restart(NEW_YORK);
    const later = await restart('Asia/Tokyo');
    expect(scene.asked).toHaveLength(2);
    expect(await later.decideZone(undefined, 'move America/New_York')).toContain(
      'My time zone is now Asia/Tokyo',
    );
    expect((await scene.job('J1')).timetable).toMatchObject({ timeZone: 'Europe/Berlin' });
  });

  it('[H08] does not ask about a job with its own zone, or when the old zone returns', async () => {
    scene = await openCronScene();
    await scene.add({ task: 'Tokyo opens.', every: 'daily at 9:00', timeZone: 'Asia/Tokyo' });
    await restart(NEW_YORK);
    await restart('Asia/Tokyo');
    await restart(NEW_YORK);
    expect(scene.asked).toEqual([]);
    scene.zone.agent = 'Europe/Berlin';
    await scene.add({ task: 'Good morning.', every: 'daily at 9:00' });
    await restart(NEW_YORK);
    await restart('Europe/Berlin');
    expect(scene.asked).toHaveLength(1);
    expect((await scene.job('J2')).timetable).not.toHaveProperty('askedAbout');
    scene.later(24 * 60);
    await restart(NEW_YORK);
    expect(scene.asked).toHaveLength(2);
  });

  it('[H08] asks at a later start if the owner has no chat yet', async () => {
    scene = await openCronScene();
    await scene.add({ task: 'Good morning.', every: 'daily at 9:00' });
    scene.zone.hasOwner = false;
    await restart(NEW_YORK);
    scene.zone.hasOwner = true;
    await restart(NEW_YORK);
    expect(scene.asked).toHaveLength(1);
  });

  it("[H08] assigns the agent's zone to jobs from an older version, and turns their days into calendar days", async () => {
    scene = await openCronScene();
    await scene.add({ task: 'Good morning.', every: '48 hours' });
    await scene.add({ task: 'Daily.', cron: '0 9 * * *' });
    const from = Date.parse('2026-11-22T08:00:00Z');
    const hours = { kind: 'every', ms: 48 * 3_600_000, from } as const;
    await scene.store.cronJobs.change('J1', { timetable: hours, nextAt: from });
    const daily = { kind: 'cron', expression: '0 9 * * *', timeZone: 'Europe/Berlin' } as const;
    await scene.store.cronJobs.change('J2', { timetable: daily });
    await restart('Europe/Berlin');
    expect((await scene.job('J1')).timetable).toEqual({
      ...{ kind: 'calendar', unit: 'day', count: 2, from: '2026-11-22T09:00' },
      ...{ timeZone: 'Europe/Berlin', zoneOf: 'agent' },
    });
    await restart(NEW_YORK);
    expect(scene.asked[0]?.markdown).toContain('2 jobs were made');
  });
});
