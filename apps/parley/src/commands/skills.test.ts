import type { OutputOf } from '@parley/gateway/operations';
import { describe, expect, it } from 'vitest';
import { formatSkillPage, formatSkillTable } from './skills.ts';

const LIMITS = { max: 150, maxCharacters: 30_000 };
type ShownSkill = OutputOf<'skills/list'>['skills'][number];

const READY: ShownSkill = {
  name: 'plan-trip',
  source: 'bundled',
  state: 'ready',
  reason: null,
  location: '~/skills/plan-trip/SKILL.md',
  description: 'Plans a trip.',
  emoji: '🧳',
  install: [],
  readers: 'everyone',
  file: null,
  isOn: true,
  forModel: true,
  command: 'plan_trip',
  commandProblem: null,
  warnings: [],
  tokens: 42,
  show: 'outline',
  primaryEnv: null,
};

describe('the list of skills', () => {
  it('[S09] lists usable skills first, in columns that fit', () => {
    const unfit: ShownSkill = {
      ...READY,
      name: 'a',
      emoji: null,
      state: 'not-eligible',
      reason: 'needs the program "x"',
      install: ['brew install x'],
      command: null,
      tokens: 0,
    };
    expect(formatSkillTable([unfit, READY], LIMITS).split('\n')).toEqual([
      'SKILL         SOURCE   STATE         COMMAND     TOKENS  REMARK',
      'plan-trip 🧳  bundled  ready         /plan_trip  42',
      'a             bundled  not-eligible  -           -       needs the program "x"; to install: brew install x',
      '',
      '1 of 2 ready; the list costs about 42 tokens per prompt (at most 150 skills, 30000 characters).',
    ]);
  });

  it('[S08] [S09] shows who can see a skill, and why a skill has no command', () => {
    const readers = 'owner' as const;
    const commandProblem = 'no command: /help is one of Parley’s own';
    const told = formatSkillTable(
      [{ ...READY, readers, command: null, commandProblem, forModel: false }],
      LIMITS,
    );
    expect(told).toContain(
      'no command: /help is one of Parley’s own; only for the owner; not shown to the model',
    );
  });

  it('[P07] [S06] shows the variable that holds the key, and the full text in the prompt', () => {
    const from = (source: 'settings' | 'environment' | null): ShownSkill => ({
      ...{ ...READY, show: 'inline', primaryEnv: { name: 'TRIP_KEY', from: source } },
    });
    expect(formatSkillTable([from(null)], LIMITS)).toContain(
      'in the prompt in full; key: TRIP_KEY (not set)',
    );
    expect(formatSkillPage(from(null))).toContain(
      'TRIP_KEY, not set: set the variable, or skills.entries.plan-trip.apiKey',
    );
    expect(formatSkillPage(from('settings'))).toContain(
      'TRIP_KEY, from skills.entries.plan-trip.apiKey',
    );
    expect(formatSkillPage(from('environment'))).toContain('TRIP_KEY, set in the environment');
    expect(formatSkillPage(from('settings'))).toContain('sees the full text, 42 tokens');
  });

  it('[S01] removes control characters from what a skill contains', () => {
    const told = formatSkillTable([{ ...READY, name: 'a\u001b[2Jb\nc' }], LIMITS);
    expect(told).not.toContain('\u001b');
    expect(told.split('\n')).toHaveLength(4);
    expect(formatSkillPage({ ...READY, description: 'x\u001b]0;y\u0007z' })).not.toContain(
      '\u001b',
    );
  });

  it('refers to the documentation when there are no skills', () => {
    expect(formatSkillTable([], LIMITS)).toContain('docs/skills.md');
  });
});
