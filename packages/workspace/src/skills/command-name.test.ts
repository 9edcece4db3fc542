import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commandNameOf, parseSkillCommand } from './command-name.ts';

describe('[S08] the command of a skill', () => {
  it.each([
    ['plan-trip', 'plan_trip'],
    ['Meeting Notes', 'meeting_notes'],
    ['übersetzen', 'ubersetzen'],
    ['-- x --', 'x'],
    [`${'a'.repeat(31)}-b`, 'a'.repeat(31)],
    ['旅行', null],
    ['42', '42'],
  ])('of %j is %j', (name, command) => {
    expect(commandNameOf(name)).toBe(command);
  });

  it('is what Telegram and Discord take, whatever the name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        expect(commandNameOf(name) ?? 'none').toMatch(/^[a-z0-9_]{1,32}$/);
      }),
    );
  });

  it.each([
    ['/plan_trip Rome in May', 'plan_trip', 'Rome in May'],
    ['/plan-trip', 'plan_trip', ''],
    ['  /PLAN_TRIP\nRome\nin May ', 'plan_trip', 'Rome\nin May'],
  ])('is read in %j', (text, command, argument) => {
    expect(parseSkillCommand(text)).toEqual({ command, argument });
  });

  it.each(['/etc/passwd', 'see /plan_trip', '/', '/ x', '/plan_trip@other_bot', '', '/旅行'])(
    'is not seen in %j',
    (text) => {
      expect(parseSkillCommand(text)).toBeNull();
    },
  );
});
