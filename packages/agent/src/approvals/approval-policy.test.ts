import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isAllowed, type Need, needOf, subjectOf } from './approval-policy.ts';

describe('what needs an approval', () => {
  const rules = (ask: readonly string[], auto: readonly string[]) => ({
    ask,
    auto,
    approvers: [],
    waitMs: 1,
  });
  it.each<['never' | 'ask', string[], string[], Need]>([
    ['never', [], [], 'never'],
    ['never', [], ['exec'], 'never'],
    ['never', ['exec'], [], 'ask'],
    ['never', ['write'], [], 'never'],
    ['ask', [], [], 'ask'],
    ['ask', [], ['exec'], 'auto'],
    ['ask', [], ['exec:ls *'], 'auto'],
    ['ask', [], ['exec:cat *', 'write'], 'ask'],
    ['never', ['exec'], ['exec'], 'auto'],
  ])('[G05] a tool that says %s, with ask %j and auto %j: %s', (approval, ask, auto, need) => {
    expect(needOf({ name: 'exec', approval }, 'ls -l', rules(ask, auto))).toBe(need);
  });

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
  ])('[G05] %s for %s with %j: %s', (entry, tool, subject, expected) => {
    expect(isAllowed(entry, tool, subject)).toBe(expected);
  });

  it('[G05] no star lets a command go on to another', () => {
    const joint = fc.constantFrom(';', '|', '&', '\n', '$(', '`', '>', '<');
    fc.assert(
      fc.property(fc.string(), joint, fc.string(), (before, sign, after) => {
        expect(isAllowed('exec:ls *', 'exec', `ls ${before}${sign}${after}`)).toBe(false);
      }),
    );
  });

  it('[G05] a call is about its tool’s first argument, whatever order the model writes them in', () => {
    const properties = { path: {}, content: {} };
    expect(subjectOf(properties, { content: 'x', path: 'a' })).toBe('a');
    expect(subjectOf(properties, { content: 'x' })).toBeNull();
    expect(subjectOf({ count: {} }, { count: 3 })).toBeNull();
    expect(subjectOf(undefined, { path: 'a' })).toBeNull();
  });
});
