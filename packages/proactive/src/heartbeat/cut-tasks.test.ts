import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PROSE_TASK, parseHeartbeatTasks } from './read-tasks.ts';
import { describeSchedule } from './task.ts';

/**
 * Files as people wrote them for other agents, with the name and schedule of each task that is
 * parsed from them.
 */
const FORMS: readonly [
  form: string,
  text: string,
  tasks: readonly (readonly [string, string])[],
][] = [
  [
    'the block of OpenClaw',
    `# HEARTBEAT.md\n\ntasks:\n\n- name: post-office\n  interval: 30m\n  prompt: "Look for letters that cannot wait."\n- name: appointments\n  interval: 2h\n  prompt: >\n    Look for what begins soon\n    and needs a word before.\n\n# More to heed\n\n- Be brief.\n`,
    [
      ['post-office', 'every 30 min'],
      ['appointments', 'every 2 h'],
    ],
  ],
  [
    'a list with times',
    '# Heartbeat\n\n- Email: every 30 min (9 AM - 9 PM)\n- **Calendar** - every 2 hours (8:00–22:00)\n- Repository: every 24 hours\n- Deep scan: once daily at 3 AM\n- Weather: twice a day\n',
    [
      ['Email', 'every 30 min, 09:00–21:00'],
      ['Calendar', 'every 2 h, 08:00–22:00'],
      ['Repository', 'every day'],
      ['Deep scan', 'every day, 03:00–24:00'],
      ['Weather', 'every 12 h'],
    ],
  ],
  [
    'lists below how often they are done',
    '# Tasks\n## Continuous (every heartbeat)\n- Look for mail of the harbour\n## Hourly\n- Look at the pumps\n## Daily (morning)\n- Tide table\n## Weekly (Monday)\n- [ ] Tidy up the notes\n',
    [
      ['Continuous', 'every 30 min'],
      ['Hourly', 'every hour'],
      ['Daily', 'every day, 06:00–12:00'],
      ['Weekly', 'every Monday'],
    ],
  ],
  [
    'a checklist with times since the last look, and rules',
    '# HEARTBEAT.md\n\n## Periodic Checks (Rotate, 1-2 per heartbeat)\n\n- [ ] Urgent mail (check if >4h since last check)\n- [ ] Next day (check if >8h since last check)\n\n## Rules\n\n- Late night (23:00-08:00): stay quiet\n- If all is well: HEARTBEAT_OK\n',
    [
      ['Urgent mail', 'every 4 h'],
      ['Next day', 'every 8 h'],
    ],
  ],
  [
    'sections with times',
    '# HEARTBEAT.md\n\n**Instructions:**\nDo the most overdue one.\n\n## State Tracking\nIn memory/heartbeat-state.json.\n\n## Checks\n\n### 1. Status (every 2 hours)\n- Is anything stuck?\n- Look at the notes of today\n\n### 2. Memory (every 6 hours)\n- Look through the notes\n\n## Quiet Hours\n- At night only what is urgent\n',
    [
      ['Status', 'every 2 h'],
      ['Memory', 'every 6 h'],
    ],
  ],
  [
    'the sections of NeoMAGI',
    '# HEARTBEAT.md\n## 调度规则\n每次只做一件事。\n\n## 任务清单\n### 📧 邮件 (每 30 分钟, 9:00-21:00)\n看看有没有急事。\n\n### 📅 日历（每2小时，8点到22点）\n- 接下来一天有什么\n- 有没有冲突\n\n### 🔧 系统 (每 24 小时, 凌晨 3:00)\n看看备份。\n',
    [
      ['邮件', 'every 30 min, 09:00–21:00'],
      ['日历', 'every 2 h, 08:00–22:00'],
      ['系统', 'every day, 03:00–24:00'],
    ],
  ],
  [
    'sections without times',
    '# HEARTBEAT.md\n\n## Calendar Check\n- Anything in the next 2 hours?\n- If one is near, write a note\n\n## Inbox\n- Anything from the crew?\n',
    [[PROSE_TASK, 'every 30 min']],
  ],
  [
    'a list without times',
    '# Heartbeat checklist\n\n- Anything urgent in the post?\n- Do two dates collide?\n- If nothing needs me, say HEARTBEAT_OK.\n',
    [[PROSE_TASK, 'every 30 min']],
  ],
  [
    'sentences with times',
    'You look after my shop. Every 30 minutes between 9 and 21, look through my mail. Tell me only of what cannot wait. Once a day at 3 AM look at the backup.\n',
    [[PROSE_TASK, 'every 30 min']],
  ],
  [
    'prose',
    'Look at the mail, and be nice.\nTell me what is new.\n',
    [[PROSE_TASK, 'every 30 min']],
  ],
  [
    'a sentence with a time',
    'Every 2 hours look at the mail, and be nice.\n',
    [[PROSE_TASK, 'every 30 min']],
  ],
  [
    'steps that build on one another',
    '## Step 1: Sort\n1. Look at the queue\n2. Choose one\n## Step 2: Work\n- Do it\n- Note it\n',
    [[PROSE_TASK, 'every 30 min']],
  ],
  [
    'a numbered list',
    '1. Look for letters\n2. If there are some, sort them\n',
    [[PROSE_TASK, 'every 30 min']],
  ],
  [
    'the template',
    '# Keep this file empty (or with only comments) to skip.\n\n# Add tasks below.\n',
    [],
  ],
];

describe('a HEARTBEAT.md written for another agent', () => {
  it.each(FORMS)('[H11] [W01] written as %s becomes these tasks', (form, text, tasks) => {
    const read = parseHeartbeatTasks(text);
    // Times in sentences do not create tasks, but are reported.
    expect(read.problems.map(({ line }) => line)).toEqual(/sentence/.test(form) ? [1] : []);
    expect(read.tasks.map((task) => [task.name, describeSchedule(task)])).toEqual(tasks);
  });

  it.each(FORMS)('[H11] [W01] written as %s does not lose any text', (_form, text) => {
    const { tasks, context = '' } = parseHeartbeatTasks(text);
    const texts = tasks.map(({ name, instruction }) => `${name}\n${instruction}`);
    const said = [...texts, context].join('\n');
    const times = tasks.map(describeSchedule).join();
    for (const line of text.split('\n').filter((one) => !/^#+ /.test(one))) {
      for (const word of line.match(/\p{L}{3,}/gu) ?? []) {
        const isKey = /^(tasks|name|interval|prompt)$/.test(word);
        expect(isKey || said.includes(word) || times.includes(word), `${line}: ${word}`).toBe(true);
      }
    }
  });

  it("[H11] keeps text that applies to all tasks as the file's context, not in any task", () => {
    const { tasks, context } = parseHeartbeatTasks(FORMS[3]?.[1] ?? '');
    expect(context).toContain('stay quiet');
    for (const { instruction } of tasks) expect(instruction).not.toContain('stay quiet');
    expect(tasks[0]?.instruction).not.toContain('Next day');
  });

  it('[H11] keeps its tasks and their names when only the general text changes', () => {
    const text = FORMS[4]?.[1] ?? '';
    const [before, after] = [text, text.replace('most overdue', 'oldest')].map((one) =>
      parseHeartbeatTasks(one),
    );
    expect(after?.tasks).toEqual(before?.tasks);
    expect(after?.context).not.toBe(before?.context);
  });

  it('[H01] never runs a task more often than the minimum interval allows', () => {
    const { tasks, problems } = parseHeartbeatTasks('- Board: every 2 minutes\n- Pumps: hourly\n');
    expect(tasks.map(describeSchedule)).toEqual(['every 5 min', 'every hour']);
    expect(problems.map(({ line, effect }) => [line, effect])).toEqual([[1, 'note']]);
  });

  it('[H02] can be parsed from any lines, and each of its tasks can run', () => {
    const lines = fc.constantFrom(
      ...[
        '# a',
        '## b (every 2 hours)',
        '### Rules',
        '- c',
        '- [ ] d: daily',
        '1. e',
        'tasks:',
        '```',
      ],
      ...[
        '- name: f',
        '  interval: 1h',
        '  prompt: |',
        '    g',
        'h every day. I hourly.',
        '',
        '- if j',
      ],
      ...['- 25:00-99:00 x', '- every 0 min', '- every 99999 days', '- 0x daily', '- k (9-9)'],
      ...[
        '- [x] daily',
        '~~- m~~',
        'Done:',
        '**Every Monday**',
        '- weekdays at 25',
        '1st of the month',
      ],
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(lines, fc.string()), { maxLength: 20 }), (all) => {
        const { tasks } = parseHeartbeatTasks(all.join('\n'));
        expect(new Set(tasks.map(({ name }) => name)).size).toBe(tasks.length);
        for (const { name, instruction, window, cadence } of tasks) {
          expect(name.trim() && instruction.trim()).not.toBe('');
          expect(window.from).not.toBe(window.to);
          expect(cadence.kind === 'days' ? cadence.days : cadence.minutes).toBeGreaterThan(0);
        }
      }),
    );
  });
});
