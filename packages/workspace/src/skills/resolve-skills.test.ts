import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  describeIneligible,
  parseSkillCommand,
  type SkillEnvironment,
  toCommandName,
} from './resolve-skills.ts';
import { SkillHeader } from './skill-header.ts';

const FACTS: SkillEnvironment = {
  os: 'linux',
  bins: new Set(['git', 'curl']),
  env: { API_KEY: 'x', EMPTY: '' },
  settings: { media: { on: true, off: false, list: [], text: '' }, model: { name: 'small' } },
  tools: new Set(['read', 'exec']),
};

const why = (asked: object, facts: Partial<SkillEnvironment> = {}) =>
  describeIneligible(SkillHeader.parse({ description: 'x', ...asked }), { ...FACTS, ...facts });

describe('[S03] a skill can be used', () => {
  it.each<[string, object]>([
    ['when it asks for nothing', {}],
    ['on its system', { os: ['darwin', 'linux'] }],
    ['on a system by its other name', { os: 'Linux' }],
    ['when all programs are there', { requires: { bins: ['git', 'curl'] } }],
    ['when one of several programs is there', { requires: { anyBins: ['brew', 'git'] } }],
    ['when its variable is set', { requires: { env: 'API_KEY' } }],
    ['when its setting is on', { requires: { config: ['media.on', 'model.name'] } }],
    ['when its tools are there', { requires: { tools: ['exec'] } }],
    ['always, when it says so', { always: true, os: 'win32', requires: { bins: ['none'] } }],
  ])('%s', (_case, asked) => {
    expect(why(asked)).toBeNull();
  });
});

describe('[S03] explains why a skill cannot be used', () => {
  it.each<[string, object, string]>([
    ['on another system', { os: ['macos', 'windows'] }, 'runs on macos, windows only'],
    ['without one program of all', { requires: { bins: ['git', 'jq'] } }, 'program "jq"'],
    [
      'without any of several',
      { requires: { anyBins: ['a', 'b'] } },
      'one of the programs "a", "b"',
    ],
    ['without its variable', { requires: { env: ['OTHER'] } }, 'environment variable "OTHER"'],
    ['with an empty variable', { requires: { env: ['EMPTY'] } }, '"EMPTY"'],
    ['with a setting that is off', { requires: { config: ['media.off'] } }, 'setting "media.off"'],
    ['with an empty list', { requires: { config: ['media.list'] } }, '"media.list"'],
    ['with an empty text', { requires: { config: ['media.text'] } }, '"media.text"'],
    ['with a setting that is not there', { requires: { config: ['a.b.c'] } }, '"a.b.c"'],
    ['by what prototypes have', { requires: { config: ['media.constructor.name'] } }, 'setting'],
    ['by a variable of prototypes', { requires: { env: ['constructor'] } }, '"constructor"'],
    ['without a tool', { requires: { tools: ['browser'] } }, 'tool "browser"'],
  ])('%s', (_case, asked, words) => {
    expect(why(asked)).toContain(words);
  });

  it('lists all missing requirements at once', () => {
    const asked = { os: 'darwin', requires: { bins: 'jq', env: 'KEY' } };
    expect(why(asked)?.split('; ')).toHaveLength(3);
  });
});

describe("[S08] a skill's command", () => {
  it.each([
    ['plan-trip', 'plan_trip'],
    ['Meeting Notes', 'meeting_notes'],
    ['übersetzen', 'ubersetzen'],
    ['-- x --', 'x'],
    [`${'a'.repeat(31)}-b`, 'a'.repeat(31)],
    ['旅行', null],
    ['42', '42'],
  ])('is created from %j as %j', (name, command) => {
    expect(toCommandName(name)).toBe(command);
  });

  it('is accepted by Telegram and Discord for any skill name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        expect(toCommandName(name) ?? 'none').toMatch(/^[a-z0-9_]{1,32}$/);
      }),
    );
  });

  it.each([
    ['/plan_trip Rome in May', 'plan_trip', 'Rome in May'],
    ['/plan-trip', 'plan_trip', ''],
    ['  /PLAN_TRIP\nRome\nin May ', 'plan_trip', 'Rome\nin May'],
  ])('is found in %j', (text, command, argument) => {
    expect(parseSkillCommand(text)).toEqual({ command, argument });
  });

  it.each(['/etc/passwd', 'see /plan_trip', '/', '/ x', '/plan_trip@other_bot', '', '/旅行'])(
    'is not found in %j',
    (text) => {
      expect(parseSkillCommand(text)).toBeNull();
    },
  );
});
