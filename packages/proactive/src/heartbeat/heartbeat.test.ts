import type { NewsChecker } from '@parley/core';
import { afterEach, describe, expect, it } from 'vitest';
import type { AlertChat } from '../alert-target.ts';
import { type HeartbeatScene, openHeartbeatScene } from '../testing/heartbeat-scene.ts';

const MAIL = '## mail\n- every: 30 min\n- between: 09:00-21:00\n- do: Look through new mail.\n';
const CALENDAR = '## calendar\n- every: 2 h\n- do: Look at the calendar.\n';

let scene: HeartbeatScene;
afterEach(() => scene.close());

/** Polls at the time of the first heartbeat, half an hour after the start. */
async function firstBeat(): Promise<void> {
  await scene.heartbeat.runDue();
  scene.later(30);
  await scene.heartbeat.runDue();
}

/** Advances the clock by half an hour. Returns the task that the started run performs. */
async function nextBeat(): Promise<string | undefined> {
  scene.later(30);
  await scene.heartbeat.runDue();
  return (await scene.run())?.messages[0]?.message.variables.task;
}

const seeing = (look: NewsChecker['look']): NewsChecker => ({ whyNot: () => null, look });

const runs = async () =>
  (await scene.store.heartbeats.recent('main', 99)).map(({ task }) => task).reverse();

describe('a heartbeat', () => {
  it('[H02] does not call a model if there are no tasks, and reports the reason', async () => {
    scene = await openHeartbeatScene();
    scene.put('HEARTBEAT.md', '# Heartbeat\n<!--\n## mail\n- do: Look.\n-->\n');
    await firstBeat();
    expect(await scene.run()).toBeNull();
    expect((await scene.heartbeat.status()).plan).toMatchObject({
      lastReason: 'HEARTBEAT.md has no tasks',
    });
  });

  it('[H02] runs the due task, and records the run', async () => {
    scene = await openHeartbeatScene();
    scene.put('HEARTBEAT.md', MAIL);
    await firstBeat();
    expect(scene.woken).toEqual(['beat:main']);
    const turn = await scene.run();
    expect(turn?.messages[0]).toMatchObject({
      fromOwner: true,
      route: { chatId: 'c', chatType: 'direct' },
      message: {
        trigger: 'heartbeat',
        chat: { id: 'beat:main', type: 'direct' },
        variables: {
          task: 'mail',
          instruction: 'Look through new mail.',
          schedule: 'every 30 min, 09:00–21:00, last run never',
        },
      },
    });
    expect(JSON.parse(scene.got('heartbeat-state.json'))).toMatchObject({
      tasks: { mail: { lastRun: '2026-11-21T09:30:00.000Z', cadenceMin: 30 } },
    });
  });

  it('[H10] [P17] previews the instruction that starts it, in the language of USER.md or else of the chat', async () => {
    scene = await openHeartbeatScene();
    scene.put('HEARTBEAT.md', MAIL + CALENDAR);
    const theirs = (found: AlertChat | null): AlertChat => {
      if (found === null) throw new Error('there is an owner');
      return found;
    };
    await scene.heartbeat.runDue();
    for (const [task, language] of [
      ['mail', undefined],
      ['calendar', 'German'],
      ['mail', 'English, British spelling'],
    ] as const) {
      scene.later(30);
      if (task === 'calendar') await scene.ownerWrites('Was ist heute? Und bitte nicht zu lang.');
      if (language?.startsWith('English')) scene.put('USER.md', `- **Language:** ${language}\n`);
      const previewed = await scene.heartbeat.preview(theirs);
      expect(previewed.task).toBe(task);
      expect(previewed.message.message.variables.language).toBe(language);
      await scene.heartbeat.runDue();
      const { reason: _, ...message } = previewed.message;
      expect((await scene.run())?.messages).toEqual([{ ...message, seq: expect.any(Number) }]);
    }
  });

  it('[H10] [P17] previews an example if no task uses a model', async () => {
    scene = await openHeartbeatScene();
    scene.put('HEARTBEAT.md', '## memory\n- every: daily at 3:00\n- run: memory-upkeep\n');
    let offered: AlertChat | null = null;
    const previewed = await scene.heartbeat.preview((found) => {
      offered = found;
      if (found === null) throw new Error('there is an owner');
      return found;
    });
    expect(offered).not.toBeNull();
    expect(previewed).toMatchObject({ task: 'example', message: { fromOwner: true } });
    expect(await runs()).toEqual([]);
  });

  it('[H02] runs one due task at a time, the most overdue one first', async () => {
    scene = await openHeartbeatScene();
    scene.put('HEARTBEAT.md', MAIL + CALENDAR);
    await scene.heartbeat.runDue();
    const ran = [];
    for (let beat = 0; beat < 7; beat += 1) ran.push(await nextBeat());
    expect(ran).toEqual(['mail', 'calendar', 'mail', 'mail', 'mail', 'mail', 'calendar']);
  });

  it('[H01] is neither missed nor doubled across a restart of the process', async () => {
    scene = await openHeartbeatScene();
    scene.put('HEARTBEAT.md', MAIL);
    await scene.heartbeat.runDue();
    for (let minute = 0; minute < 120; minute += 5) {
      scene.later(5);
      // Each poll runs in a new process.
      await scene.twin().runDue();
      await scene.run();
    }
    expect(await runs()).toEqual(['mail', 'mail', 'mail', 'mail']);
  });

  it('[H01] does not skip a task because the previous heartbeat was late', async () => {
    scene = await openHeartbeatScene();
    scene.put('HEARTBEAT.md', MAIL);
    await scene.heartbeat.runDue();
    const late = [0.2, 0, 4, 0.1, 0];
    let before = 0;
    for (const minutes of late) {
      scene.later(30 + minutes - before);
      before = minutes;
      await scene.heartbeat.runDue();
      await scene.run();
    }
    expect(await runs()).toHaveLength(late.length);
  });

  it('[H01] runs once if two processes poll at the same moment', async () => {
    scene = await openHeartbeatScene();
    scene.put('HEARTBEAT.md', MAIL + CALENDAR);
    await scene.heartbeat.runDue();
    const twin = scene.twin();
    scene.later(30);
    await Promise.all([scene.heartbeat.runDue(), twin.runDue(), scene.heartbeat.runDue()]);
    expect(await runs()).toHaveLength(1);
  });

  it('[H01] runs once after the machine has slept for days, and keeps its schedule', async () => {
    scene = await openHeartbeatScene();
    scene.put('HEARTBEAT.md', MAIL);
    await firstBeat();
    await scene.run();
    scene.later(3 * 24 * 60 + 10);
    const next = await scene.heartbeat.runDue();
    await scene.heartbeat.runDue();
    expect(await runs()).toHaveLength(2);
    expect(new Date(next ?? 0).toISOString()).toBe('2026-11-24T10:00:00.000Z');
  });

  it('[H01] keeps running if the clock is set back by a day', async () => {
    scene = await openHeartbeatScene();
    scene.put('HEARTBEAT.md', MAIL);
    await firstBeat();
    await scene.run();
    scene.later(-24 * 60);
    await scene.heartbeat.runDue();
    expect(await nextBeat()).toBe('mail');
  });

  it('[H02] waits while the previous run is in progress', async () => {
    scene = await openHeartbeatScene();
    scene.put('HEARTBEAT.md', MAIL);
    await firstBeat();
    scene.later(30);
    await scene.heartbeat.runDue();
    expect((await scene.heartbeat.status()).plan?.lastReason).toContain('has not finished yet');
    await scene.run();
    expect(await nextBeat()).toBe('mail');
  });

  it('[H04] does not run if no owner could be notified', async () => {
    scene = await openHeartbeatScene({
      findTarget: async () => ({ kind: 'none', reason: 'no owner has written yet' }),
    });
    scene.put('HEARTBEAT.md', MAIL);
    await firstBeat();
    expect(await runs()).toEqual([]);
    expect((await scene.heartbeat.status()).plan?.lastReason).toBe('no owner has written yet');
  });

  it('[H05] stops for the day when its tokens are used up, and resumes at midnight', async () => {
    scene = await openHeartbeatScene();
    scene.put('HEARTBEAT.md', CALENDAR.replace('2 h', '30 min'));
    await firstBeat();
    await scene.run(1_000);
    expect(await nextBeat()).toBeUndefined();
    expect((await scene.heartbeat.status()).plan?.lastReason).toContain('used up');
    scene.at('2026-11-21T23:05:00Z');
    expect(await nextBeat()).toBe('calendar');
  });

  it("[H02] does not call a model if a task's check finds nothing new", async () => {
    let inbox = 'two letters';
    scene = await openHeartbeatScene({ checkForNews: seeing(async () => inbox) });
    scene.put('HEARTBEAT.md', `${MAIL}- check: ls mail\n`);
    await scene.heartbeat.runDue();
    expect(await nextBeat()).toBe('mail');
    expect(await nextBeat()).toBeUndefined();
    expect((await scene.heartbeat.status()).plan?.lastReason).toBe('mail: there is nothing new');
    inbox = 'three letters';
    expect(await nextBeat()).toBe('mail');
    expect(scene.got('heartbeat-state.json')).not.toContain('letters');
  });

  it('[H02] calls the model if the check fails, or if a person requests the run', async () => {
    scene = await openHeartbeatScene({
      checkForNews: seeing(async () => {
        throw new Error('no such host');
      }),
    });
    scene.put('HEARTBEAT.md', `${MAIL}- check: https://example.org\n`);
    await scene.heartbeat.runDue();
    expect([await nextBeat(), await nextBeat()]).toEqual(['mail', 'mail']);
    expect(scene.lines.join()).toContain('no such host');
  });
});

describe('a check that cannot run', () => {
  it('[H02] does not keep its task from running, and is reported in the state and once in the log', async () => {
    const look = () => Promise.reject(new Error('it must not be tried'));
    scene = await openHeartbeatScene({ checkForNews: { whyNot: () => 'commands are off', look } });
    scene.put('HEARTBEAT.md', `${MAIL}- check: ls mail\n`);
    await scene.heartbeat.runDue();
    expect([await nextBeat(), await nextBeat()]).toEqual(['mail', 'mail']);
    const said = 'HEARTBEAT.md, line 1, mail: it runs without its check, because commands are off.';
    expect((await scene.heartbeat.status()).problems).toEqual([said]);
    expect(scene.lines.filter((line) => line.includes('without its check'))).toHaveLength(1);
  });
});

describe('another agent’s HEARTBEAT.md', () => {
  it('[H11] does not call a model if it is an untouched template', async () => {
    scene = await openHeartbeatScene();
    scene.put('HEARTBEAT.md', '# Template\n\n```markdown\n# Keep this file empty.\n```\n');
    await firstBeat();
    expect(await scene.run()).toBeNull();
    expect(scene.woken).toEqual([]);
  });

  const RULES = '# Heartbeat\nBe brief.\n\n## Pumps (every 2 hours)\n- both of them\n';
  it("[H11] passes the file's general text to each run once, together with the task", async () => {
    scene = await openHeartbeatScene();
    scene.put('HEARTBEAT.md', RULES);
    await firstBeat();
    expect((await scene.run())?.messages[0]?.message.variables).toMatchObject({
      task: 'Pumps',
      instruction: 'Pumps (every 2 hours)\n- both of them',
      context: 'Be brief.',
    });
    expect((await scene.heartbeat.report()).context).toBe('Be brief.');
  });

  it('[H11] does not restart its tasks when only its rules change', async () => {
    scene = await openHeartbeatScene();
    scene.put('HEARTBEAT.md', RULES);
    await firstBeat();
    await scene.run();
    scene.put('HEARTBEAT.md', RULES.replace('brief', 'very brief'));
    expect(await nextBeat()).toBeUndefined();
    expect((await scene.heartbeat.status()).tasks.map(({ next }) => next.kind)).toEqual([
      'not-yet',
    ]);
  });

  it('[H11] reports an unrecognized time with its line', async () => {
    scene = await openHeartbeatScene();
    scene.put('HEARTBEAT.md', '---\nsummary: x\n---\n\n- Bills: quarterly\n- Pumps: every 2-3 h\n');
    const { problems, tasks } = await scene.heartbeat.report();
    expect(problems.map((text) => text.slice(0, 42))).toEqual([
      'HEARTBEAT.md, line 5, task Bills: found "q',
      'HEARTBEAT.md, line 6, task Pumps: found "e',
    ]);
    expect(tasks.map(({ name, schedule }) => [name, schedule])).toEqual([['Pumps', 'every 2 h']]);
  });
});

describe('the owner’s time zone', () => {
  const agent = { id: 'main', timeZone: 'Europe/Berlin' };
  const MORNING = '## post\n- every: daily at 18:00\n- do: Look.\n';
  const zoneOf = async (isMachinesTimeZone: boolean, profile: string) => {
    scene = await openHeartbeatScene({ agent: { ...agent, isMachinesTimeZone } });
    scene.put('HEARTBEAT.md', MORNING);
    scene.put('USER.md', profile);
    const { timeZone, timeZoneFrom, problems, tasks } = await scene.heartbeat.report();
    return { timeZone, timeZoneFrom, problems, due: tasks[0]?.next.state };
  };

  it("[H11] comes from USER.md if the settings do not name one, and applies to the tasks' hours", async () => {
    const found = await zoneOf(true, '- **Name:** Ann\n- **Timezone:** Asia/Tokyo\n');
    expect(found).toEqual({
      ...{ timeZone: 'Asia/Tokyo', timeZoneFrom: 'USER.md', problems: [] },
      // 10:00 in Berlin.
      due: 'due',
    });
  });

  it('[H11] comes from the settings if they name one, and its source is shown', async () => {
    const found = await zoneOf(false, '- **Timezone:** Asia/Tokyo\n');
    expect(found).toMatchObject({ timeZone: 'Europe/Berlin', problems: [], due: 'not-yet' });
    expect(found.timeZoneFrom).toContain('agent.timeZone in the settings');
    expect(found.timeZoneFrom).toContain('Asia/Tokyo');
  });

  it('[H11] is reported as a problem if USER.md names an unknown zone', async () => {
    const found = await zoneOf(true, '- **Timezone:** my place\n');
    expect(found).toMatchObject({ timeZone: 'Europe/Berlin', due: 'not-yet' });
    expect(found.problems.join()).toContain('USER.md: "my place" is not a time zone');
  });
});

describe('heartbeat-state.json', () => {
  it('[H02] [W01] from OpenClaw decides which task is the most overdue', async () => {
    scene = await openHeartbeatScene();
    scene.put(
      'HEARTBEAT.md',
      '- Email: every 30 min\n- Calendar: every 2 hours\n- Pumps: hourly\n',
    );
    const before = (minutes: number) => Date.parse('2026-11-21T09:30:00Z') / 1000 - minutes * 60;
    const theirs = { email: before(31), calendar: before(500), pumps: before(10) };
    scene.put('memory/heartbeat-state.json', JSON.stringify({ lastChecks: theirs }));
    await firstBeat();
    expect((await scene.run())?.messages[0]?.message.variables.task).toBe('Calendar');
    const { tasks } = JSON.parse(scene.got('heartbeat-state.json'));
    expect(tasks.Calendar.lastRun).toBe('2026-11-21T09:30:00.000Z');
    expect(tasks.Pumps).toEqual({ lastRun: '2026-11-21T09:20:00.000Z', cadenceMin: 60 });
    expect(JSON.parse(scene.got('memory/heartbeat-state.json'))).toEqual({ lastChecks: theirs });
    expect(await nextBeat()).toBe('Email');
  });

  it('[H01] is completed after the process died before writing it', async () => {
    scene = await openHeartbeatScene();
    scene.put('HEARTBEAT.md', MAIL);
    await firstBeat();
    await scene.run();
    const complete = scene.got('heartbeat-state.json');
    scene.later(30);
    await scene.heartbeat.runDue();
    await scene.run();
    scene.put('heartbeat-state.json', complete);
    scene.later(5);
    const { tasks } = await scene.twin().status();
    expect(tasks.map(({ next }) => next.kind)).toEqual(['not-yet']);
  });

  it('[H02] may be edited by a person, even while a run is starting', async () => {
    let ms = Date.parse('2026-11-21T09:30:00Z');
    scene = await openHeartbeatScene({ clock: () => ms++ });
    scene.put('HEARTBEAT.md', CALENDAR);
    await scene.heartbeat.now('first');
    await scene.run();
    const state = JSON.parse(scene.got('heartbeat-state.json'));
    state.tasks.calendar.lastRun = null;
    scene.put('heartbeat-state.json', JSON.stringify(state));
    expect(await scene.heartbeat.now('second')).toEqual({ kind: 'started', task: 'calendar' });
  });

  it('[H02] is repaired if it is not JSON, and the repair is logged', async () => {
    scene = await openHeartbeatScene();
    scene.put('HEARTBEAT.md', CALENDAR);
    scene.put('heartbeat-state.json', '{ broken');
    await firstBeat();
    expect(await scene.run()).not.toBeNull();
    expect(scene.lines.join()).toContain('heartbeat-state.json was repaired');
    expect(JSON.parse(scene.got('heartbeat-state.json'))).toHaveProperty('tasks.calendar');
  });
});

describe('a heartbeat run on request', () => {
  it('[H02] runs the named task even if it is not due', async () => {
    scene = await openHeartbeatScene();
    scene.put('HEARTBEAT.md', MAIL + CALENDAR);
    const { heartbeat } = scene;
    expect(await heartbeat.now('a', 'Calendar')).toEqual({ kind: 'started', task: 'calendar' });
    await scene.run();
    expect(await heartbeat.now('b', 'calendar')).toEqual({ kind: 'started', task: 'calendar' });
    await scene.run();
    expect(await heartbeat.now('c')).toEqual({ kind: 'started', task: 'mail' });
    expect(await heartbeat.now('d')).toMatchObject({ reason: 'no task is due' });
  });

  it('[H02] lists the tasks if the requested one does not exist', async () => {
    scene = await openHeartbeatScene();
    scene.put('HEARTBEAT.md', MAIL + CALENDAR);
    expect(await scene.heartbeat.now('a', 'post')).toEqual({
      kind: 'skipped',
      reason: 'HEARTBEAT.md has no task "post"; there are: mail, calendar',
    });
  });

  it('[H01] runs once if the same message requests it twice', async () => {
    scene = await openHeartbeatScene();
    scene.put('HEARTBEAT.md', CALENDAR);
    await scene.heartbeat.now('a', 'calendar');
    await scene.run();
    await scene.heartbeat.now('a', 'calendar');
    expect(await scene.run()).toBeNull();
    expect(await runs()).toEqual(['calendar']);
  });
});
