import { toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAllowEntry, isAllowedByEntry } from './auto-rules.ts';

const ASCII = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));
const NEVER_WILD = '\n\r;|&<>$`(){}';

/** A reference matcher that compares character by character: slow, but too simple to be wrong. */
function covers(pattern: string, subject: string): boolean {
  const sign = pattern.charAt(0);
  const rest = pattern.slice(1);
  if (sign === '') return subject === '';
  if (sign !== '*') return subject.startsWith(sign) && covers(rest, subject.slice(1));
  if (covers(rest, subject)) return true;
  const next = subject.charAt(0);
  return next !== '' && !NEVER_WILD.includes(next) && covers(pattern, subject.slice(1));
}

describe('a rule in approvals.auto', () => {
  it.each([
    ['exec', 'exec', null, true],
    ['exec', 'execute', 'x', false],
    ['exec:git status', 'exec', 'git status', true],
    ['exec:git status', 'exec', 'git status -s', false],
    ['exec:git status*', 'exec', 'git status -s', true],
    ['exec:git status*', 'exec', 'git status; rm -r .', false],
    ['exec:git status*', 'exec', 'git status\nrm -r .', false],
    ['exec:git status*', 'exec', 'git status $(rm -r .)', false],
    ['exec:git status*', 'exec', 'git status > /etc/x', false],
    ['exec:git status*', 'exec', 'sudo git status', false],
    ['write:notes/*', 'write', 'notes/a.md', true],
    ['write:notes/*', 'write', 'notes/../MEMORY.md', false],
    ['write:notes/*', 'write', 'notes/a..b.md', true],
    ['write:notes/*', 'write', null, false],
    ['write:*.md', 'write', 'axmd', false],
    ['web_fetch:https://a.org/*', 'web_fetch', 'https://a.org/x?y=1', true],
    ['web_fetch:https://a.org/*', 'web_fetch', 'https://b.org/https://a.org/', false],
  ])('[G05] rule %s for %s with %j: %s', (entry, tool, subject, expected) => {
    expect(isAllowedByEntry(entry, tool, subject)).toBe(expected);
  });

  it('[G05] never lets a star match the start of another command', () => {
    const joint = fc.constantFrom(';', '|', '&', '\n', '$(', '`', '>', '<');
    fc.assert(
      fc.property(fc.string(), joint, fc.string(), (before, sign, after) => {
        expect(isAllowedByEntry('exec:ls *', 'exec', `ls ${before}${sign}${after}`)).toBe(false);
      }),
    );
  });

  it.each(ASCII.filter((sign) => sign !== '*').map((sign) => [sign]))(
    '[G05] matches the character %j next to a star only literally',
    (sign) => {
      const rule = `exec:a${sign}b *`;
      expect(isAllowedByEntry(rule, 'exec', `a${sign}b c`)).toBe(true);
      for (const other of ASCII) {
        expect(isAllowedByEntry(rule, 'exec', `a${other}b c`)).toBe(other === sign);
      }
      expect(isAllowedByEntry(rule, 'exec', 'ab c')).toBe(false);
    },
  );

  it.each(ASCII.map((sign) => [sign]))(
    '[G05] lets a star match %j only if it cannot start another command',
    (sign) => {
      expect(isAllowedByEntry('exec:ls *', 'exec', `ls ${sign}`)).toBe(!NEVER_WILD.includes(sign));
    },
  );

  it('[G05] gives the same result as the reference matcher for any pattern and subject', () => {
    const text = (signs: string) => fc.string({ unit: fc.constantFrom(...signs), maxLength: 12 });
    fc.assert(
      fc.property(text('ab-;**'), text('ab-;$'), (pattern, subject) => {
        const expected = pattern.includes('*') ? covers(pattern, subject) : pattern === subject;
        expect(isAllowedByEntry(`exec:${pattern}`, 'exec', subject)).toBe(expected);
      }),
      toRunOptions(5_000),
    );
  });

  it('[D13] matches a rule with many stars in linear time, even against a long text that nearly matches', () => {
    const rule = `exec:${'*a'.repeat(100)}b`;
    expect(isAllowedByEntry(rule, 'exec', 'a'.repeat(200_000))).toBe(false);
  });
});

describe('[G05] the rule that approves a call permanently', () => {
  it.each([
    ['write', 'notes/a.md', 'write:notes/a.md'],
    ['exec', 'git status; rm x', 'exec:git status; rm x'],
    ['exec', 'ls *', null],
    ['exec', 'ls\nrm x', null],
    ['exec', 'ls \u3164', null],
    ['exec', ' ', null],
    ['exec', null, null],
    ['exec', 'x'.repeat(400), null],
    ['Odd-tool', 'x', null],
  ])('rule for %s with %j: %j', (tool, subject, rule) => {
    expect(createAllowEntry(tool, subject)).toBe(rule);
  });

  it('allows exactly one subject', () => {
    const subjects = fc.tuple(fc.string(), fc.string());
    fc.assert(
      fc.property(subjects, ([subject, other]) => {
        const rule = createAllowEntry('exec', subject);
        if (rule === null) return;
        expect(isAllowedByEntry(rule, 'exec', subject)).toBe(true);
        expect(isAllowedByEntry(rule, 'exec', other)).toBe(other === subject);
      }),
    );
  });
});
