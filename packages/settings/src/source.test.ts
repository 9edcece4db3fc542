// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references are written like that.
import { describe, expect, it } from 'vitest';
import { describeProblem } from './source.ts';

describe('describeProblem', () => {
  it('[D12] reports position, value, expected value and suggestion in plain lines', () => {
    const text = describeProblem({
      kind: 'value',
      path: 'log.level',
      position: { line: 2, column: 10 },
      found: '"inof"',
      expected: 'one of debug, info, warn',
      nearest: 'info',
    });
    expect(text).toBe(
      [
        'log.level has a value that does not fit (line 2, column 10)',
        '    found:    "inof"',
        '    expected: one of debug, info, warn',
        '    did you mean: info',
      ].join('\n'),
    );
  });

  it('[D12] shows the excerpt of a file that is not YAML', () => {
    const text = describeProblem({
      kind: 'syntax',
      path: '',
      position: { line: 2, column: 3 },
      expected: 'spaces for indentation',
      excerpt: '1 | a:\n2 | \tb\n  | ^',
    });
    expect(text).toBe(
      [
        'the settings file is not valid YAML (line 2, column 3)',
        '',
        '    1 | a:',
        '    2 | \tb',
        '      | ^',
        '',
        '    expected: spaces for indentation',
      ].join('\n'),
    );
  });

  it('[D12] omits unknown details', () => {
    expect(
      describeProblem({ kind: 'reference', path: 'model', found: '${K}', expected: 'K to be set' }),
    ).toBe('model refers to a missing value\n    found:    ${K}\n    expected: K to be set');
  });
});
