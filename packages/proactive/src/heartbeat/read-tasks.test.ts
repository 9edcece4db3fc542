import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PROSE_TASK, parseHeartbeatTasks } from './read-tasks.ts';
import {
  describeSchedule,
  describeTaskProblem,
  parseCadence,
  parseClockMinutes,
  parseDayWindow,
} from './task.ts';

const TEMPLATE = join(import.meta.dirname, '../../../../config/workspace/HEARTBEAT.md');
const MAIL = '## mail\n- every: 30 min\n- between: 9:00-21:00\n- do: Look through new mail.\n';

const problemsOf = (text: string) => parseHeartbeatTasks(text).problems.map(describeTaskProblem);
const namesOf = (text: string) => parseHeartbeatTasks(text).tasks.map(({ name }) => name);

describe('HEARTBEAT.md', () => {
  it('[H02] is a list of tasks', () => {
    const text = `# Heartbeat\n\n${MAIL}\n## Backup\n- **Every**: daily at 3:00\n- do: Look at it.\n- check: \`ls -l /backup\`\n- tell: Family\n`;
    expect(parseHeartbeatTasks(text)).toEqual({
      tasks: [
        {
          name: 'mail',
          line: 3,
          cadence: { kind: 'minutes', minutes: 30 },
          window: { from: 540, to: 1260 },
          instruction: 'Look through new mail.',
        },
        {
          name: 'Backup',
          line: 8,
          cadence: { kind: 'days', days: 1 },
          window: { from: 180, to: 1440 },
          instruction: 'Look at it.',
          check: { kind: 'command', command: 'ls -l /backup' },
          tell: 'Family',
        },
      ],
      problems: [],
    });
  });

  it("[H06] contains the template's tasks as disabled examples", () => {
    const template = readFileSync(TEMPLATE, 'utf8');
    expect(parseHeartbeatTasks(template)).toEqual({ tasks: [], problems: [] });
    const { tasks, problems } = parseHeartbeatTasks(
      template.replace('<!--', '').replace('-->', ''),
    );
    expect(problems.map(({ effect }) => effect)).toEqual(['note']);
    expect(tasks.map(({ name, cadence, window }) => [name, cadence, window])).toEqual([
      ['mail', { kind: 'minutes', minutes: 30 }, { from: 540, to: 1260 }],
      ['calendar', { kind: 'minutes', minutes: 120 }, { from: 480, to: 1320 }],
      ['progress', { kind: 'minutes', minutes: 30 }, { from: 0, to: 1440 }],
      ['health', { kind: 'days', days: 1 }, { from: 180, to: 1440 }],
      ['memory', { kind: 'days', days: 1 }, { from: 180, to: 1440 }],
    ]);
    expect(tasks.at(-1)).toMatchObject({ routine: 'memory-upkeep' });
  });

  it('[H07] may run a built-in routine instead of an instruction', () => {
    const text = '## memory\n- every: daily at 3:00\n- run: `Memory-Upkeep`\n';
    expect(parseHeartbeatTasks(text)).toMatchObject({
      tasks: [
        { name: 'memory', routine: 'memory-upkeep', instruction: '(built in: memory-upkeep)' },
      ],
      problems: [],
    });
    const prose = '## memory\n- do: Read the notes and run: memory-upkeep\n- every: 1 day\n';
    expect(parseHeartbeatTasks(prose).tasks[0]).not.toHaveProperty('routine');
  });

  it.each([
    ['nothing', ''],
    ['headings', '# Heartbeat\n\n## Tasks\n\n---\n'],
    ['comments', '<!-- ## mail\n- every: 30 min\n- do: x\n-->\n# Heartbeat\n'],
    ['empty items', '# Heartbeat\n- [ ]\n-\n'],
  ])('[H02] does not have tasks if it contains only %s', (_what, text) => {
    expect(parseHeartbeatTasks(text)).toEqual({ tasks: [], problems: [] });
  });

  it('[H02] is one task if it is plain text', () => {
    const text = '# Heartbeat\n\n## Each time\n- Look for urgent mail.\n- Note: be brief.\n';
    const { tasks, problems } = parseHeartbeatTasks(`<!-- a comment -->\n${text}`);
    expect(problems).toEqual([]);
    expect(tasks).toEqual([
      {
        name: PROSE_TASK,
        line: 5,
        cadence: { kind: 'minutes', minutes: 30 },
        window: { from: 0, to: 1440 },
        instruction: text.trim(),
      },
    ]);
  });

  it('[H02] keeps all lines of an instruction', () => {
    const text = `## a\n- every: 1 h\n- do: Look at\n  1. mail\n     - note: only new\n  2. news\n\n  \`\`\`\n  ## not a task\n  - every: x\n  \`\`\`\n- between: 9-10\n`;
    expect(parseHeartbeatTasks(text)).toMatchObject({
      problems: [],
      tasks: [
        {
          instruction:
            'Look at\n1. mail\n   - note: only new\n2. news\n\n```\n## not a task\n- every: x\n```',
          window: { from: 540, to: 600 },
        },
      ],
    });
  });

  it('[H02] may have Windows line endings and a byte order mark', () => {
    expect(namesOf(`\ufeff${MAIL.replaceAll('\n', '\r\n')}`)).toEqual(['mail']);
  });

  it.each([
    ['Monday at 10:00', 'every Monday, 10:00–24:00'],
    ['weekdays at 9:00', 'Monday to Friday, 09:00–24:00'],
    ['Mon, Wed, Fri', 'Mon, Wed, Fri'],
    ['1st of the month', 'on day 1 of each month'],
    ['2 weeks on Friday', 'every 14 days, Friday'],
  ])('[H11] [H02] accepts %s as a cadence', (every, schedule) => {
    const { tasks, problems } = parseHeartbeatTasks(`## a\n- every: ${every}\n- do: x\n`);
    expect(problems).toEqual([]);
    expect(tasks.map(describeSchedule)).toEqual([schedule]);
  });

  it.each(['~~mail~~', 'Done', 'Completed tasks'])(
    '[H11] does not have tasks in a section %s',
    (title) => {
      const keys = title.startsWith('~') ? '- every: 1 h\n- do: x\n' : '- [x] what is over\n';
      expect(parseHeartbeatTasks(`${MAIL}## ${title}\n${keys}`)).toMatchObject({
        tasks: [{ name: 'mail' }],
        problems: [],
      });
    },
  );

  it('[H11] keeps a Parley task whose name looks like the title of a section for finished items', () => {
    expect(namesOf(`## archive\n- every: 1 day\n- do: Pack it.\n`)).toEqual(['archive']);
  });

  it('[H02] keeps line numbers after comments', () => {
    expect(parseHeartbeatTasks(`<!-- a\nb -->\n${MAIL}`).tasks[0]?.line).toBe(3);
  });

  it('[H02] treats an unclosed comment as text', () => {
    expect(namesOf(`<!-- open\n${MAIL}`)).toEqual(['mail']);
  });

  it.each([
    [
      '## a\n- every: often\n- do: x\n',
      'HEARTBEAT.md, line 2, task a: found "often", expected how often, such as 30 min, 2 h, 1 day or daily at 3:00. This task does not run until it is fixed.',
    ],
    [
      '## a\n- every: 1 h\n',
      'HEARTBEAT.md, line 1, task a: found nothing, expected what to do, as "- do: Look through new mail.". This task does not run until it is fixed.',
    ],
    [
      '## a\n- between: 9-9\n- do: x\n',
      'HEARTBEAT.md, line 2, task a: found "9-9", expected a range on the 24-hour clock, such as 9:00-21:00 or 22:00-2:00. This task does not run until it is fixed.',
    ],
    [
      '## a\n- evry: 1 h\n- do: x\n',
      'HEARTBEAT.md, line 2, task a: found "evry", expected one of every, between, do, run, tell, check. Did you mean "every"?',
    ],
    [
      '## a\n- do: x\n- betwen: 9-10\n',
      'HEARTBEAT.md, line 3, task a: found "betwen", expected one of every, between, do, run, tell, check. Did you mean "between"?',
    ],
    [
      '## a\n- every: 1 min\n- do: x\n',
      'HEARTBEAT.md, line 2, task a: found "1 min", expected at least 5 min; it runs every 5 min.',
    ],
    [
      '## a\n- do: x\n- do: y\n',
      'HEARTBEAT.md, line 3, task a: found "- do: y", expected "do" only once; the first one counts.',
    ],
    [
      '## a\n- do: x\n## a\n- do: y\n',
      'HEARTBEAT.md, line 3, task a: found "a", expected a different name for each task. This task does not run until it is fixed.',
    ],
    [
      '## a\n- do: x\n- check: ftp://e.org\n',
      'HEARTBEAT.md, line 3, task a: found "ftp://e.org", expected a command, or an address that begins with https://. This task does not run until it is fixed.',
    ],
    [
      '## a\n- do: x\n- every: daily at 8:00\n- between: 9-10\n',
      'HEARTBEAT.md, line 4, task a: found "9-10", expected hours that include the time in "every". This task does not run until it is fixed.',
    ],
    [
      '## a\n- run: memory-upkep\n',
      'HEARTBEAT.md, line 2, task a: found "memory-upkep", expected one of memory-upkeep. This task does not run until it is fixed.',
    ],
    [
      '## a\n- run: memory-upkeep\n- do: x\n',
      'HEARTBEAT.md, line 2, task a: found "memory-upkeep", expected either "do" or "run", not both. This task does not run until it is fixed.',
    ],
    [
      '## a\n- run: memory-upkeep\n- tell: Family\n',
      'HEARTBEAT.md, line 3, task a: found "Family", expected no "tell" together with "run", which sends nothing. This task does not run until it is fixed.',
    ],
    [
      'Some words.\n## a\n- do: x\n',
      'HEARTBEAT.md, line 1: found "Some words.", expected a task that begins with "## name"; this line does not belong to a task.',
    ],
    [
      '##   \n- do: x\n',
      'HEARTBEAT.md, line 1, task : found nothing, expected a name after "##". This task does not run until it is fixed.',
    ],
  ])('[H02] reports %j with an explanation', (text, problem) => {
    expect(problemsOf(text)).toEqual([problem]);
  });

  it('[H02] runs the valid tasks beside an invalid one', () => {
    expect(namesOf(`## bad\n- every: x\n- do: y\n${MAIL}## worse\n- do:\n`)).toEqual(['mail']);
  });

  it('[H02] can be parsed from any text, and each of its tasks can run', () => {
    const words = fc.constantFrom(
      ...['## a', '## b', '- every: 30 min', '- every: x', '- do: y', '- do:', '- between: 22-2'],
      ...['<!--', '-->', '```', 'text', '', '  more', '- tell: z', '- check: https://e.org', '##'],
    );
    const lines = fc.array(fc.oneof(words, fc.string()), { maxLength: 30 });
    fc.assert(
      fc.property(lines, (all) => {
        const { tasks, problems } = parseHeartbeatTasks(all.join('\n'));
        expect(new Set(tasks.map(({ name }) => name)).size).toBe(tasks.length);
        for (const { name, instruction, window } of tasks) {
          expect(name).not.toBe('');
          expect(instruction.trim()).not.toBe('');
          expect(window.from).not.toBe(window.to);
        }
        for (const { line } of problems)
          expect(line).toBeLessThanOrEqual(all.join('\n').split('\n').length);
      }),
    );
  });
});

describe('the cadence of a task', () => {
  it.each([
    ['30 min', { cadence: { kind: 'minutes', minutes: 30 } }],
    ['30min', { cadence: { kind: 'minutes', minutes: 30 } }],
    ['45 minutes', { cadence: { kind: 'minutes', minutes: 45 } }],
    ['2 h', { cadence: { kind: 'minutes', minutes: 120 } }],
    ['1.5 hours', { cadence: { kind: 'minutes', minutes: 90 } }],
    ['1 h 30 min', { cadence: { kind: 'minutes', minutes: 90 } }],
    ['hour', { cadence: { kind: 'minutes', minutes: 60 } }],
    ['Hourly', { cadence: { kind: 'minutes', minutes: 60 } }],
    ['1 day', { cadence: { kind: 'days', days: 1 } }],
    ['24 h', { cadence: { kind: 'days', days: 1 } }],
    ['daily', { cadence: { kind: 'days', days: 1 } }],
    ['2 weeks', { cadence: { kind: 'days', days: 14 } }],
    ['daily at 3:00', { cadence: { kind: 'days', days: 1 }, at: 180 }],
    ['day at 9 pm', { cadence: { kind: 'days', days: 1 }, at: 1260 }],
    ['weekly at 0:00', { cadence: { kind: 'days', days: 7 }, at: 0 }],
  ])('[H02] is parsed from %j', (written, cadence) => {
    expect(parseCadence(written)).toEqual(cadence);
  });

  it.each(['', 'often', '30', '0 min', '-5 min', '1 month', 'daily at 25:00', '2 h at 3:00'])(
    '[H02] is refused if written as %j',
    (written) => expect(parseCadence(written)).toBeNull(),
  );

  it.each(['daily at 24:00', '9000 days', '1e3 min', '5 m m m x', 'm', '1,5 h'])(
    '[H02] is not guessed from %j',
    (written) => expect(parseCadence(written)).toBeNull(),
  );
});

describe('the hours of a task', () => {
  it.each([
    ['9:00-21:00', { from: 540, to: 1260 }],
    ['09:00 – 21:00', { from: 540, to: 1260 }],
    ['9-21', { from: 540, to: 1260 }],
    ['9:00 to 21:30', { from: 540, to: 1290 }],
    ['from 9 am until 5 pm', { from: 540, to: 1020 }],
    ['22:00-2:00', { from: 1320, to: 120 }],
    ['22:00-0:00', { from: 1320, to: 1440 }],
    ['22:00-24:00', { from: 1320, to: 1440 }],
    ['00:00-24:00', { from: 0, to: 1440 }],
    ['24:00-00:00', { from: 0, to: 1440 }],
  ])('[H02] are parsed from %j', (written, window) => {
    expect(parseDayWindow(written)).toEqual(window);
  });

  it.each(['', 'always', '9:00', '9:00-9:00', '9-25', '9:60-10:00', '9-12-15', '0:00-0:00'])(
    '[H02] are refused if written as %j',
    (written) => expect(parseDayWindow(written)).toBeNull(),
  );

  it.each([
    ['12 am', 0],
    ['12 pm', 720],
    ['24:00', 1440],
    ['24:01', null],
    ['13 pm', null],
    ['0 am', null],
  ])('[H02] accept the time %j', (written, minutes) => {
    expect(parseClockMinutes(written)).toBe(minutes);
  });
});
