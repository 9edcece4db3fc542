import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { findPatternRisk } from './pattern-risk.ts';

describe('a third-party regular expression', () => {
  it.each([
    '^(a+)+$',
    '^(a*)*$',
    '(a|a)*b',
    '^(a|aa)+$',
    '^(?:\\w+\\s?)*$',
    '^([a-zA-Z0-9]+[._-]?)+$',
    '(x+x+)+y',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    '^(a?b?)*$|^((a|b)*c?)*$',
    '(?:(?:a{1,30}){1,30})!',
    '(.*)*\\n',
    '^(?=(a+)+$)b',
    '(?<name>\\d+|\\w)+$',
    '^((?:a|[a-c])+)$',
    '^(\\d|[0-9])+x',
  ])('[D13] %s is refused because a repetition in it is ambiguous', (source) => {
    expect(findPatternRisk(source)).toContain('several ways');
  });

  it.each([
    '^\\d{4}-\\d{2}-\\d{2}$',
    '^[a-z0-9-]+$',
    '^([\\w-]+\\.)+[\\w-]{2,}$',
    '^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$',
    '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
    '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$',
    '^([a-z]+,)*[a-z]+$',
    '^(\\d{1,3}\\.){3}\\d{1,3}$',
    '^([A-Z][a-z]+ ?)+$',
    '^(?:(?!foo).)*$',
    '^"(?:[^"\\\\]|\\\\.)*"$',
    '^\\d{1,3}(,\\d{3})*(\\.\\d+)?$',
    '^(["\']).*\\1$',
    '^#?([a-f0-9]{6}|[a-f0-9]{3})$',
    '^v?(\\d+)\\.(\\d+)\\.(\\d+)(?:-([\\w.-]+))?$',
    '^[a-z]{100}([a-z]{100})*$',
    '',
    ']',
  ])('[D12] %s is accepted', (source) => {
    expect(findPatternRisk(source)).toBeNull();
  });

  it.each(Object.entries(z.regexes).filter(([, one]) => one instanceof RegExp))(
    '[D12] accepts the pattern that zod uses for %s',
    (_name, regex) => {
      const { source, flags } = z.instanceof(RegExp).parse(regex);
      expect(findPatternRisk(source, flags)).toBeNull();
    },
  );

  it.each([
    ['x'.repeat(1_001), 'at most 1000'],
    ['('.repeat(60) + ')'.repeat(60), 'nested'],
    ['(', 'Invalid regular expression'],
    [`(${'[a-z]|'.repeat(60)}b)*`, 'several ways'],
    ['(a?){128}(b?){128}(c?){128}(d?){128}(e?){128}(f?){128}', 'too complex'],
  ])('[D13] %s is refused: %s', (source, reason) => {
    expect(findPatternRisk(source)).toContain(reason);
  });
});
