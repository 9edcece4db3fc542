import { toLiteralMarkdown } from '@parley/core';
import type { HeartbeatRun } from '@parley/store';
import { afterEach, describe, expect, it } from 'vitest';
import { type HeartbeatScene, openHeartbeatScene } from '../testing/heartbeat-scene.ts';
import { createZoneClock } from '../zone-clock.ts';
import type { Heartbeat } from './heartbeat.ts';
import { describeLastTaskRun } from './report.ts';
import { formatMoment } from './report-shape.ts';
import type { HeartbeatServices } from './services.ts';

const moment = (iso: string) => Date.parse(iso);
/** Half past three on a Saturday afternoon in Berlin. */
const AT = { now: moment('2026-11-21T14:30:00Z'), clock: createZoneClock('Europe/Berlin') };
const RUN: HeartbeatRun = {
  id: 'beat_main_1',
  agent: 'main',
  task: 'mail',
  target: 'telegram:default:1',
  state: 'quiet',
  reason: null,
  alert: null,
  heldUntil: null,
  startedAt: moment('2026-11-21T13:00:00Z'),
  finishedAt: null,
  inputTokens: 1,
  outputTokens: 1,
};
const CHECK = { kind: 'command', command: 'date' } as const;
const said = (change: Partial<HeartbeatRun>, tell?: string) =>
  describeLastTaskRun(tell === undefined ? {} : { tell }, RUN.startedAt, { ...RUN, ...change }, AT)
    .text;

describe('the outcome of the last run', () => {
  it.each<[Partial<HeartbeatRun>, string]>([
    [{ state: 'running' }, '14:00, running now'],
    [{ state: 'quiet' }, '14:00, nothing to report'],
    [{ state: 'alerted' }, '14:00, sent to you'],
    [
      { state: 'held', heldUntil: moment('2026-11-22T06:00:00Z') },
      '14:00, held until tomorrow 07:00',
    ],
    [{ state: 'repeated' }, '14:00, the same as before, so not sent again'],
    [{ state: 'unclear', reason: 'a mere nod' }, '14:00, an unclear answer, not sent (a mere nod)'],
    [
      { state: 'failed', reason: 'overloaded\n  too many' },
      '14:00, failed (overloaded too many); not sent',
    ],
  ])('[H02] [H03] [H04] is formatted as one line: %j', (change, words) => {
    expect(said(change)).toBe(words);
  });

  it('[H04] names the group that was notified', () => {
    expect(said({ state: 'alerted' }, 'family')).toBe('14:00, sent to family');
  });

  it('[H02] says that a check found nothing new, if the check was after the run', () => {
    const later = moment('2026-11-21T14:00:00Z');
    expect(describeLastTaskRun({ check: CHECK }, later, RUN, AT)).toEqual({
      state: 'nothing-new',
      at: later,
      text: '15:00, nothing new to look at',
    });
    const noted = describeLastTaskRun({}, moment('2026-11-12T14:00:00Z'), undefined, AT);
    expect(noted).toMatchObject({ state: 'noted', text: 'Thu 12 Nov 15:00' });
  });

  it('[H02] is empty before the first run', () => {
    expect(describeLastTaskRun({}, null, undefined, AT)).toEqual({
      state: 'never',
      at: null,
      text: 'never',
    });
  });
});

it.each([
  ['2026-11-21T22:59:00Z', '23:59'],
  ['2026-11-21T23:00:00Z', 'tomorrow 00:00'],
  ['2026-11-20T20:05:00Z', 'yesterday 21:05'],
  ['2026-11-24T02:00:00Z', 'Tue 24 Nov 03:00'],
  ['2027-01-01T02:00:00Z', 'Fri 1 Jan 2027 03:00'],
  ['2026-03-28T02:00:00Z', 'Sat 28 Mar 03:00'],
])('[H02] %s is shown as %s to a person in Berlin on that Saturday', (iso, words) => {
  const now = Date.parse('2026-11-21T14:30:00Z');
  expect(formatMoment(Date.parse(iso), createZoneClock('Europe/Berlin'), now)).toBe(words);
});

describe('the report as text', () => {
  const MAIL = '## mail\n- every: 30 min\n- between: 09:00-21:00\n- do: Look through new mail.\n';
  const HEALTH = '## health\n- every: daily at 3:00\n- do: Look whether all is well.\n';
  const SETTINGS = { enabled: true, everyMinutes: 30, tokensPerDay: 1_000, quietHours: 'off' };
  const NOBODY = { kind: 'none', reason: 'no owner has written yet' } as const;
  const ALONE = { isGroup: false, messageId: 'm1' };

  let scene: HeartbeatScene;
  afterEach(() => scene.close());

  /** A heartbeat that starts at 10:00 in Berlin, with its first run scheduled for 10:30. */
  async function open(
    tasks: string,
    change: Partial<Pick<HeartbeatServices, 'settings' | 'findTarget'>> = {},
  ): Promise<Heartbeat> {
    scene = await openHeartbeatScene({ settings: SETTINGS, ...change });
    scene.put('HEARTBEAT.md', tasks);
    await scene.heartbeat.runDue();
    return scene.heartbeat;
  }

  const ask = (heartbeat: Heartbeat, argument = '', asker = ALONE) =>
    heartbeat.answer(asker, argument);
  const nextOf = async (heartbeat: Heartbeat, name = 'mail') =>
    (await heartbeat.report()).tasks.find((task) => task.name === name)?.next;

  describe('/heartbeat', () => {
    it('[H02] contains the schedule, and each task’s last and next run', async () => {
      const heartbeat = await open(MAIL + HEALTH);
      scene.later(30);
      await scene.heartbeat.runDue();
      await scene.run();
      scene.later(5);
      expect(await ask(heartbeat)).toBe(
        [
          '**Heartbeat**: on, every 30 min; next run 11:00 (Europe/Berlin).',
          [
            '- **mail** – every 30 min, 09:00–21:00',
            '  - last: 10:30, nothing to report',
            '  - next: 11:30',
            '- **health** – every day, 03:00–24:00',
            '  - last: never',
            '  - next: 11:00; it is due',
          ].join('\n'),
          'Today: 10 of 1000 tokens. `/heartbeat now mail` runs a task immediately.',
        ].join('\n\n'),
      );
    });

    it('[H02] [H06] explains how to write a task if there is none', async () => {
      const heartbeat = await open('# Heartbeat\n');
      expect(await ask(heartbeat)).toContain('- every: 30 min\n- between: 9:00-21:00\n- do: ');
      expect(await heartbeat.line()).toBe('Heartbeat: next 10:30, no tasks');
    });

    it('[H02] reports what is invalid in HEARTBEAT.md, on which line, and what is expected', async () => {
      const heartbeat = await open(`${MAIL}## news\n- every: now and then\n- do: Read.\n`);
      const text = await ask(heartbeat);
      expect(text).toContain('HEARTBEAT.md needs fixing');
      expect(text).toContain('line 6, task news: found "now and then", expected how often');
      expect(text).toContain('**mail**');
      expect(await heartbeat.line()).toBe('Heartbeat: next 10:30, 1 task, 1 problem: /heartbeat');
    });

    it('[W02] does not contain text from the tasks if it is shown in a group', async () => {
      const heartbeat = await open(MAIL);
      const group = { ...ALONE, isGroup: true };
      expect(await ask(heartbeat, '', group)).toBe(
        '**Heartbeat**: on, every 30 min; next run 10:30; 1 task. More in a direct chat.',
      );
      expect(await ask(heartbeat, 'now letters', group)).not.toContain('mail');
      expect(await ask(heartbeat, 'now mail', group)).not.toContain('mail');
    });

    it('contains the literal name of a task, including special characters', async () => {
      const heartbeat = await open('## a* [b](https://c.example)\n- do: Look.\n');
      expect(await ask(heartbeat)).toContain(
        `**${toLiteralMarkdown('a* [b](https://c.example)')}**`,
      );
    });

    it.each(['on', 'off'])(
      '[H01] answers "%s" with the setting that decides this',
      async (verb) => {
        expect(await ask(await open(MAIL), verb)).toContain('`heartbeat.enabled`');
      },
    );

    it('lists its commands if the argument is not recognized', async () => {
      expect(await ask(await open(MAIL), 'sometimes')).toContain('`/heartbeat now`');
    });
  });

  describe('the reason why a task does not run now', () => {
    it('[H02] it is due, and each run takes one task', async () => {
      const heartbeat = await open(`${MAIL}## second\n- do: Look.\n`);
      expect(await nextOf(heartbeat)).toMatchObject({ state: 'due', text: '10:30; it is due' });
      expect(await nextOf(heartbeat, 'second')).toMatchObject({ text: '11:00; it is due' });
    });

    it('[H02] its time has not come', async () => {
      const heartbeat = await open(MAIL);
      await heartbeat.now('a', 'mail');
      await scene.run();
      expect(await nextOf(heartbeat)).toMatchObject({ state: 'not-yet', text: '10:30' });
    });

    it('[H02] it is outside its hours', async () => {
      const heartbeat = await open(MAIL);
      await heartbeat.now('a', 'mail');
      await scene.run();
      scene.at('2026-11-21T21:10:00Z');
      expect(await nextOf(heartbeat)).toMatchObject({
        state: 'out-of-hours',
        text: 'tomorrow 09:00; out of its hours now',
      });
    });

    it('[H02] it is done for today', async () => {
      const heartbeat = await open(HEALTH);
      await heartbeat.now('a', 'health');
      await scene.run();
      expect(await nextOf(heartbeat, 'health')).toMatchObject({
        state: 'done',
        text: 'tomorrow 03:00; it has already run for now',
      });
    });

    it('[H02] its run is still in progress', async () => {
      const heartbeat = await open(MAIL);
      await heartbeat.now('a', 'mail');
      expect(await nextOf(heartbeat)).toMatchObject({ state: 'running' });
      expect(await ask(heartbeat)).toContain('last: 10:00, running now');
    });

    it('[H05] today’s tokens are used up', async () => {
      const heartbeat = await open(MAIL);
      await heartbeat.now('a', 'mail');
      await scene.run(1_000);
      scene.later(31);
      expect(await nextOf(heartbeat)).toMatchObject({ state: 'no-tokens' });
      expect(await ask(heartbeat, 'now')).toContain('tokens are used up');
    });

    it('[H04] no owner can be notified', async () => {
      const heartbeat = await open(MAIL, { findTarget: async () => NOBODY });
      expect(await nextOf(heartbeat)).toMatchObject({
        state: 'no-chat',
        text: 'not yet: no owner has written yet',
      });
      expect(await ask(heartbeat, 'now')).toContain('Nothing started: no owner has written yet.');
    });

    it('[H01] the heartbeat is off', async () => {
      const heartbeat = await open(MAIL, { settings: { ...SETTINGS, enabled: false } });
      expect(await nextOf(heartbeat)).toMatchObject({ state: 'off' });
      expect(await ask(heartbeat)).toContain('`heartbeat.enabled` is false');
      expect(await heartbeat.line()).toBe('Heartbeat: off, 1 task');
    });

    it('[H02] no run falls into its hours', async () => {
      const heartbeat = await open('## short\n- between: 9:05-9:20\n- do: Look.\n');
      expect(await nextOf(heartbeat, 'short')).toMatchObject({ state: 'no-run' });
      const every7 = await open('## short\n- between: 9:05-9:20\n- do: Look.\n', {
        settings: { ...SETTINGS, everyMinutes: 7 },
      });
      expect(await nextOf(every7, 'short')).toMatchObject({ state: 'not-yet' });
    });
  });

  describe('/heartbeat now', () => {
    it('[H02] runs the due task, and names it', async () => {
      const heartbeat = await open(MAIL);
      expect(await ask(heartbeat, 'now')).toMatch(/^mail is starting\./);
      expect((await scene.run())?.messages[0]?.message.variables.task).toBe('mail');
    });

    it('[H02] runs a named task that is not due', async () => {
      const heartbeat = await open(`${MAIL}## Long walk\n- between: 20:00-21:00\n- do: Look.\n`);
      expect(await ask(heartbeat, 'now long walk')).toMatch(/^Long walk is starting\./);
    });

    it('[H02] runs once per message, even if it is delivered again after the run', async () => {
      const heartbeat = await open(MAIL);
      const first = await ask(heartbeat, 'now mail');
      expect(await ask(heartbeat, 'now mail')).toBe(first);
      await scene.run();
      expect(await ask(heartbeat, 'now mail')).toBe(first);
      expect(await scene.run()).toBeNull();
      await ask(heartbeat, 'now mail', { ...ALONE, messageId: 'm2' });
      expect(await scene.run()).not.toBeNull();
    });

    it('[H02] reports why no run started', async () => {
      const heartbeat = await open(MAIL);
      expect(await ask(heartbeat, 'now letters')).toContain('no task "letters"; there are: mail.');
      await ask(heartbeat, 'now mail');
      const again = await ask(heartbeat, 'now mail', { ...ALONE, messageId: 'm2' });
      expect(again).toBe('Nothing started: the previous run has not finished yet.');
      await scene.run();
      expect(await ask(heartbeat, 'now', { ...ALONE, messageId: 'm3' })).toBe(
        'Nothing started: no task is due. "/heartbeat now mail" runs it anyway.',
      );
    });
  });
});
