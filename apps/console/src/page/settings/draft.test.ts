import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CLEARED,
  changesBetween,
  changesToWrite,
  isClearedAt,
  type Path,
  pathText,
  valueAt,
  withMoved,
  withName,
  withValue,
} from './draft.ts';

const BEFORE = {
  agent: { name: 'Polly' },
  mcp: { desk: { command: 'desk', env: { A: '1', B: '2' } } },
  plugins: ['./a.ts', { use: './b.ts', options: { deep: [1] } }],
};

const NO_SCHEMA = {};

describe('a settings draft', () => {
  it.each<[string, unknown, unknown]>([
    [
      'an entry of a record',
      withValue(BEFORE, ['mcp', 'desk', 'env', 'A'], CLEARED),
      [{ path: ['mcp', 'desk', 'env', 'A'] }],
    ],
    ['a new entry', withValue(BEFORE, ['mcp', 'desk', 'env', 'C'], CLEARED), []],
    [
      'an entry of a list',
      withValue(BEFORE, ['plugins', 0], CLEARED),
      [{ path: ['plugins'], value: BEFORE.plugins.slice(1) }],
    ],
    ['all entries of a list', { ...BEFORE, plugins: [CLEARED, CLEARED] }, [{ path: ['plugins'] }]],
    ['a value', withValue(BEFORE, ['agent', 'name'], CLEARED), [{ path: ['agent', 'name'] }]],
  ])('[U03] is saved without what was cleared: %s', (_case, after, changes) => {
    expect(changesToWrite(BEFORE, after, NO_SCHEMA)).toEqual(changes);
  });

  it('[U03] has no value where one was cleared', () => {
    const values = withValue(BEFORE, ['mcp', 'desk', 'env', 'A'], CLEARED);
    expect(valueAt(values, ['mcp', 'desk', 'env', 'A'])).toBeUndefined();
    expect(isClearedAt(values, ['mcp', 'desk', 'env', 'A'])).toBe(true);
    expect(isClearedAt(values, ['mcp', 'desk', 'env', 'B'])).toBe(false);
  });

  it.each<[string, unknown, unknown]>([
    [
      'a value that changed',
      withValue(BEFORE, ['agent', 'name'], 'Molly'),
      [{ path: ['agent', 'name'], value: 'Molly' }],
    ],
    [
      'a value that was removed',
      withValue(BEFORE, ['agent', 'name'], undefined),
      [{ path: ['agent', 'name'] }],
    ],
    [
      'a new block',
      withValue(BEFORE, ['spend', 'totalDaily', 'usd'], 1),
      [{ path: ['spend'], value: { totalDaily: { usd: 1 } } }],
    ],
    [
      'a new entry that is still empty',
      withValue(BEFORE, ['mcp', 'next'], {}),
      [{ path: ['mcp', 'next'], value: {} }],
    ],
    ['a removed entry', withValue(BEFORE, ['mcp', 'desk'], undefined), [{ path: ['mcp', 'desk'] }]],
    [
      'a new name',
      { ...BEFORE, mcp: withName(BEFORE.mcp, 'desk', 'table') },
      [{ path: ['mcp', 'table'], value: BEFORE.mcp.desk }, { path: ['mcp', 'desk'] }],
    ],
    [
      'a field of a list entry',
      withValue(BEFORE, ['plugins', 1, 'use'], './c.ts'),
      [{ path: ['plugins', 1, 'use'], value: './c.ts' }],
    ],
    [
      'a removed list entry',
      withValue(BEFORE, ['plugins', 0], undefined),
      [{ path: ['plugins'], value: [BEFORE.plugins[1]] }],
    ],
    [
      'a list whose last entry was removed',
      withValue(withValue(BEFORE, ['plugins', 0], undefined), ['plugins', 0], undefined),
      [{ path: ['plugins'] }],
    ],
    ['another form', withValue(BEFORE, ['agent'], 'x'), [{ path: ['agent'], value: 'x' }]],
    ['nothing', withValue(BEFORE, ['agent', 'name'], 'Polly'), []],
  ])('[D12] writes %s', (_what, after, changes) => {
    expect(changesBetween(BEFORE, after)).toEqual(changes);
  });

  it('[D12] reproduces the draft when its changes are applied one after another', () => {
    const tree = fc.letrec((tie) => ({
      value: fc.oneof({ depthSize: 'small' }, fc.string(), fc.integer(), tie('block'), tie('list')),
      block: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), tie('value'), {
        maxKeys: 3,
        noNullPrototype: true,
      }),
      list: fc.array(tie('value'), { maxLength: 3 }),
    }));
    fc.assert(
      fc.property(tree.block, tree.block, (before, after) => {
        const made = changesBetween(before, after).reduce<unknown>(
          (values, { path, value }) => withValue(values, path, value),
          before,
        );
        expect(changesBetween(made, after)).toEqual([]);
      }),
    );
  });

  it('reads values, moves entries and renames keys', () => {
    expect(valueAt(BEFORE, ['plugins', 1, 'options', 'deep', 0])).toBe(1);
    expect(valueAt(null, ['agent'])).toBeUndefined();
    expect(valueAt(BEFORE, ['plugins', 'use'])).toBeUndefined();
    expect(withMoved(['a', 'b', 'c'], 2, 0)).toEqual(['c', 'a', 'b']);
    expect(withName(BEFORE.mcp, 'desk', '')).toBe(BEFORE.mcp);
    const path: Path = ['mcp', 'desk', 'args', 0];
    expect(pathText(path)).toBe('mcp.desk.args[0]');
  });
});
