import { describe, expect, it } from 'vitest';
import { decideUpgrade, type Finding } from './decide.ts';
import { formatRefusal, formatRehearsal } from './report.ts';
import type { ReleaseRecord, ReleaseRun } from './run-release.ts';

const done = (value: object, code = 0) => ({ code, out: JSON.stringify(value), err: '' });
const UNKNOWN = { code: 2, out: '', err: "error: unknown command 'replay'\n" };
type Ran = Extract<ReleaseRun, { kind: 'ran' }>;
const RUN: Ran = {
  kind: 'ran',
  ...{ readyMs: 900, hasDied: false, memory: { before: 100, after: 120 } },
  ...{ log: { lines: 40, errors: 0, end: '' }, stop: { code: 0, tookMs: 90 } },
};

function record(change: Partial<ReleaseRecord> = {}): ReleaseRecord {
  return {
    version: '0.2.0',
    commands: {
      ...{ conversations: done({ conversations: [{ id: 'a', messages: 3 }], now: 1 }) },
      ...{ letters: done({ letters: [] }), jobs: done({ jobs: [] }), usage: done({ rows: [] }) },
      ...{ settings: done({ problems: [] }), doctor: done({ checks: [] }) },
      ...{ replay: UNKNOWN, cases: UNKNOWN },
    },
    tablesBefore: { inbox: { rows: 5, columns: 9 }, process: { rows: 1, columns: 4 } },
    tables: { inbox: { rows: 5, columns: 10 }, process: { rows: 0, columns: 4 } },
    ...{ noWayBack: null, run: RUN, leaks: [], showsCanary: true },
    answers: [
      { number: 0, seen: [1, 1, 1], tookMs: 80 },
      { number: 1, seen: [1], tookMs: 60 },
    ],
    prompts: new Map([
      [0, ['hello']],
      [1, ['who']],
    ]),
    ...change,
  };
}

const commands = (change: Partial<ReleaseRecord['commands']>) => ({
  commands: { ...record().commands, ...change },
});
const answers = (first: Partial<ReleaseRecord['answers'][number]>) => ({
  answers: [{ number: 0, seen: [1, 1, 1], tookMs: 80, ...first }, ...record().answers.slice(1)],
});
const run = (change: Partial<Ran>) => ({
  run: { ...RUN, ...change },
});
const replayed = (changed: number) =>
  commands({ replay: done({ same: 4, changed, incomplete: 1, diverged: 0, turns: [] }) });

/** What the new release did differently, and the level and kind of the finding; null for none. */
const CASES: readonly (readonly [
  what: string,
  after: Partial<ReleaseRecord>,
  found: `${Finding['level']} ${Finding['kind']}` | null,
])[] = [
  ['nothing', {}, null],
  [
    'more columns and tables',
    { tables: { ...record().tables, more: { rows: 0, columns: 1 } } },
    null,
  ],
  ['a table with another name', { tables: { messages: { rows: 5, columns: 9 } } }, null],
  ['more facts in an answer', commands({ jobs: done({ jobs: [], more: 1 }) }), null],
  ['recorded turns with the same requests', replayed(0), null],
  ['cases that pass', commands({ cases: done({}) }), null],
  ['a database that it cannot open', commands({ conversations: done({}, 1) }), 'refuse migration'],
  [
    'a command without an end',
    commands({ conversations: { code: null, out: '', err: '' } }),
    'refuse migration',
  ],
  [
    'a conversation with fewer messages',
    commands({ conversations: done({ conversations: [{ id: 'a', messages: 2 }] }) }),
    'refuse data',
  ],
  [
    'a missing conversation',
    commands({ conversations: done({ conversations: [] }) }),
    'refuse data',
  ],
  [
    'an output that is not JSON',
    commands({ usage: { code: 0, out: 'all', err: '' } }),
    'refuse data',
  ],
  ['fewer rows', { tables: { inbox: { rows: 4, columns: 9 } } }, 'refuse data'],
  ['a missing table', { tables: {} }, 'refuse data'],
  ['fewer columns', { tables: { inbox: { rows: 5, columns: 8 } } }, 'ask data'],
  ['no way back', { noWayBack: 'the table inbox is missing' }, 'ask return'],
  [
    'a problem of the settings',
    commands({ settings: done({ problems: [{ path: 'model' }] }, 1) }),
    'refuse settings',
  ],
  [
    'no report about the settings',
    commands({ settings: { code: 1, out: '', err: 'broken' } }),
    'refuse settings',
  ],
  [
    'a failing check of the doctor',
    commands({ doctor: done({ checks: [{ check: 'disk', status: 'failed', found: 'full' }] }, 1) }),
    'ask doctor',
  ],
  ['recorded turns with other requests', replayed(2), 'ask prompts'],
  ['cases that fail', commands({ cases: done({}, 1) }), 'refuse cases'],
  ['no start', { run: { kind: 'failed', reason: 'broken' } }, 'refuse start'],
  ['an end by itself', run({ hasDied: true }), 'refuse start'],
  ['errors in the log', run({ log: { lines: 40, errors: 3, end: '' } }), 'refuse log'],
  ['a flood in the log', run({ log: { lines: 5_000, errors: 0, end: '' } }), 'refuse log'],
  ['another exit code', run({ stop: { code: 3, tookMs: 90 } }), 'refuse stop'],
  ['no end when asked', run({ stop: { code: null, tookMs: 15_000 } }), 'refuse stop'],
  ['a slow end', run({ stop: { code: 0, tookMs: 9_000 } }), 'ask speed'],
  ['much more memory', run({ memory: { before: 100, after: 230 } }), 'ask memory'],
  ['no answer', answers({ seen: [0, 0, 0], tookMs: null }), 'refuse messages'],
  ['a missing part', answers({ seen: [1, 0, 1], tookMs: null }), 'refuse messages'],
  ['a part sent twice', answers({ seen: [1, 2, 1] }), 'refuse messages'],
  ['private text in others’ prompts', { leaks: [1] }, 'refuse privacy'],
  [
    'another prompt',
    {
      prompts: new Map([
        [0, ['hello!']],
        [1, ['who']],
      ]),
    },
    'ask prompts',
  ],
];

describe('the decision about an upgrade', () => {
  it.each(CASES)('[D18] judges %s', (_what, after, found) => {
    const { kind, findings } = decideUpgrade(record(), record(after));
    const reasons = findings.filter(({ level }) => level !== 'note');
    expect(reasons.map((one) => `${one.level} ${one.kind}`)).toEqual(found === null ? [] : [found]);
    expect(kind).toBe(found === null ? 'go' : 'refuse');
  });

  it('[D18] judges answers that take much longer, but not those of a short delay', () => {
    const took = (ms: number) => ({
      answers: record().answers.map((one) => ({ ...one, tookMs: ms })),
    });
    expect(decideUpgrade(record(), record(took(200))).kind).toBe('go');
    expect(decideUpgrade(record(), record(took(700))).findings).toContainEqual(
      expect.objectContaining({ level: 'ask', kind: 'speed' }),
    );
  });

  it('[D18] does not blame the new release for what the old one does as well', () => {
    const broken = record({
      ...answers({ seen: [0, 0, 0], tookMs: null }),
      ...commands({
        doctor: done({ checks: [{ check: 'disk', status: 'failed', found: 'full' }] }, 1),
      }),
    });
    expect(decideUpgrade(broken, broken).kind).toBe('go');
    const replay = { ...replayed(2).commands, cases: done({}, 1) };
    const changed = record({ commands: replay });
    expect(decideUpgrade(changed, changed).kind).toBe('go');
    expect(decideUpgrade(record(replayed(1)), changed).kind).toBe('refuse');
    const failing = record(commands({ replay: { code: 1, out: '', err: 'broken' } }));
    expect(decideUpgrade(record(replayed(1)), failing).kind).toBe('refuse');
    expect(decideUpgrade(record(), failing).kind).toBe('go');
  });

  it('[D18] passes intended changes that the operator accepts, and no others', () => {
    const after = record({
      prompts: new Map([[0, ['hello!']]]),
      ...run({ memory: { before: 1, after: 900 } }),
    });
    expect(decideUpgrade(record(), after, ['prompts']).kind).toBe('refuse');
    expect(decideUpgrade(record(), after, ['prompts', 'memory']).kind).toBe('go');
    expect(decideUpgrade(record(), record({ leaks: [1] }), ['privacy', 'messages']).kind).toBe(
      'refuse',
    );
  });

  it('[D18] is reported in ten lines, with what may be accepted', () => {
    const after = record({ prompts: new Map([[0, ['hello!']]]) });
    const decision = decideUpgrade(record({ version: '0.1.0' }), after);
    const rehearsal = { before: record({ version: '0.1.0' }), after, decision, recorded: 7 };
    const lines = [...formatRehearsal(rehearsal), ...formatRefusal(decision)];
    expect(lines.length).toBeLessThanOrEqual(10);
    expect(lines.join('\n')).toContain('Parley 0.2.0 instead of 0.1.0');
    expect(lines.at(-2)).toBe(
      'Refused    1 of 1 prompts of played messages differ, for example "hello" became "hello!". Nothing was changed.',
    );
    expect(lines.at(-1)).toContain('--accept prompts');
  });
});
