import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isStandingInstruction, STANDING_WORDS } from './standing-instructions.ts';

describe('standing instructions', () => {
  it.each([
    ['AGENTS.md', true],
    ['./agents.MD', true],
    ['notes/../USER.md', true],
    ['notes/..//IDENTITY.md', true],
    ['notes\\..\\TOOLS.md', true],
    ['~/parley/HEARTBEAT.md', true],
    ['/home/ada/parley/workspace/MEMORY.md', true],
    ['ＡＧＥＮＴＳ.md', true],
    ['skills/tea/SKILL.md', true],
    ['Skills/tea/steps.txt', true],
    ['shared/tea/SKILL.md', true],
    ['memory/user.md', true],
    ['BOOT.md ', true],
    ['notes/agents.txt', false],
    ['notes/skills.md', false],
    ['notes/today.md', false],
    // No tool can write it at all (W06).
    ['SOUL.md', false],
  ])('[G05] %s: %s', (path, is) => {
    expect(isStandingInstruction(path)).toBe(is);
  });

  it('[G05] all that the prompt names are meant, however they are written', () => {
    const named = STANDING_WORDS.split(/, | or /);
    const before = fc.array(fc.constantFrom('.', '..', 'notes', ''), { maxLength: 4 });
    fc.assert(
      fc.property(fc.constantFrom(...named), before, fc.boolean(), (name, steps, isLow) => {
        const path = [...steps, name].join('/');
        expect(isStandingInstruction(isLow ? path.toLowerCase() : path)).toBe(true);
      }),
    );
  });
});
