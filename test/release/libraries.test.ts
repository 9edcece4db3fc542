import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findLicenseProblems, parseAdvisories } from './libraries.ts';

describe('the licenses of all libraries', () => {
  it('[U06] are permissive, except for named optional libraries under a GPL', () => {
    const lock = readFileSync(resolve(import.meta.dirname, '../../package-lock.json'), 'utf8');
    const { named, wrong } = findLicenseProblems(JSON.parse(lock).packages);
    expect(wrong).toEqual([]);
    expect(named).toContainEqual(expect.stringMatching(/^libsignal .*GPL-3\.0/));
  });

  it.each([
    ['GPL-3.0', { license: 'GPL-3.0' }, false],
    ['a GPL that is optional and not named', { license: 'GPL-3.0', optional: true }, false],
    ['none', {}, false],
    ['a GPL of a package that only tests use', { license: 'GPL-3.0', dev: true }, true],
    ['one of two', { license: '(MIT OR GPL-3.0-or-later)' }, true],
    ['two at once', { license: 'MIT AND GPL-3.0' }, false],
  ])('read %s: %o → %s', (_what, library, isFine) => {
    const { wrong } = findLicenseProblems({ 'node_modules/some-library': library });
    expect(wrong.length === 0).toBe(isFine);
  });
});

describe('advisories', () => {
  it('are listed, and an unresponsive registry does not count as a pass', () => {
    const audit = { vulnerabilities: { ws: { severity: 'high', range: '<8.17' } } };
    expect(parseAdvisories(JSON.stringify(audit))).toEqual({
      kind: 'answered',
      lines: ['ws <8.17 has an advisory: high.'],
    });
    expect(parseAdvisories('{"vulnerabilities":{}}')).toEqual({ kind: 'answered', lines: [] });
    expect(parseAdvisories('{"error":"offline"}').kind).toBe('silent');
    expect(parseAdvisories('').kind).toBe('silent');
  });
});
