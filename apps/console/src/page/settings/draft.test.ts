import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CLEARED,
  formatPath,
  getValueAt,
  isClearedAt,
  listChangesBetween,
  listChangesToWrite,
  moveListEntry,
  renameBlockKey,
  replaceValueAt,
  type SettingPath,
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
      replaceValueAt(BEFORE, ['mcp', 'desk', 'env', 'A'], CLEARED),
      [{ path: ['mcp', 'desk', 'env', 'A'] }],
    ],
    ['a new entry', replaceValueAt(BEFORE, ['mcp', 'desk', 'env', 'C'], CLEARED), []],
    [
      'an entry of a list',
      replaceValueAt(BEFORE, ['plugins', 0], CLEARED),
      [{ path: ['plugins'], value: BEFORE.plugins.slice(1) }],
    ],
    ['all entries of a list', { ...BEFORE, plugins: [CLEARED, CLEARED] }, [{ path: ['plugins'] }]],
    ['a value', replaceValueAt(BEFORE, ['agent', 'name'], CLEARED), [{ path: ['agent', 'name'] }]],
  ])('[U03] saves the draft without cleared entries: %s', (_case, after, changes) => {
    expect(listChangesToWrite(BEFORE, after, NO_SCHEMA)).toEqual(changes);
  });

  it('[U03] has no value at a cleared path', () => {
    const values = replaceValueAt(BEFORE, ['mcp', 'desk', 'env', 'A'], CLEARED);
    expect(getValueAt(values, ['mcp', 'desk', 'env', 'A'])).toBeUndefined();
    expect(isClearedAt(values, ['mcp', 'desk', 'env', 'A'])).toBe(true);
    expect(isClearedAt(values, ['mcp', 'desk', 'env', 'B'])).toBe(false);
  });

  it.each<[string, unknown, unknown]>([
    [
      'a value that changed',
      replaceValueAt(BEFORE, ['agent', 'name'], 'Molly'),
      [{ path: ['agent', 'name'], value: 'Molly' }],
    ],
    [
      'a value that was removed',
      replaceValueAt(BEFORE, ['agent', 'name'], undefined),
      [{ path: ['agent', 'name'] }],
    ],
    [
      'a new block',
      replaceValueAt(BEFORE, ['spend', 'totalDaily', 'usd'], 1),
      [{ path: ['spend'], value: { totalDaily: { usd: 1 } } }],
    ],
    [
      'a new entry that is still empty',
      replaceValueAt(BEFORE, ['mcp', 'next'], {}),
      [{ path: ['mcp', 'next'], value: {} }],
    ],
    [
      'a removed entry',
      replaceValueAt(BEFORE, ['mcp', 'desk'], undefined),
      [{ path: ['mcp', 'desk'] }],
    ],
    [
      'a new name',
      { ...BEFORE, mcp: renameBlockKey(BEFORE.mcp, 'desk', 'table') },
      [{ path: ['mcp', 'table'], value: BEFORE.mcp.desk }, { path: ['mcp', 'desk'] }],
    ],
    [
      'a field of a list entry',
      replaceValueAt(BEFORE, ['plugins', 1, 'use'], './c.ts'),
      [{ path: ['plugins', 1, 'use'], value: './c.ts' }],
    ],
    [
      'a removed list entry',
      replaceValueAt(BEFORE, ['plugins', 0], undefined),
      [{ path: ['plugins'], value: [BEFORE.plugins[1]] }],
    ],
    [
      'a list whose last entry was removed',
      replaceValueAt(replaceValueAt(BEFORE, ['plugins', 0], undefined), ['plugins', 0], undefined),
      [{ path: ['plugins'] }],
    ],
    ['another form', replaceValueAt(BEFORE, ['agent'], 'x'), [{ path: ['agent'], value: 'x' }]],
    ['nothing', replaceValueAt(BEFORE, ['agent', 'name'], 'Polly'), []],
  ])('[D12] writes %s', (_what, after, changes) => {
    expect(listChangesBetween(BEFORE, after)).toEqual(changes);
  });

  it('[D12] produces the same draft when its changes are applied one after another', () => {
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
        const made = listChangesBetween(before, after).reduce<unknown>(
          (values, { path, value }) => replaceValueAt(values, path, value),
          before,
        );
        expect(listChangesBetween(made, after)).toEqual([]);
      }),
    );
  });

  it('reads values, moves entries and renames keys', () => {
    expect(getValueAt(BEFORE, ['plugins', 1, 'options', 'deep', 0])).toBe(1);
    expect(getValueAt(null, ['agent'])).toBeUndefined();
    expect(getValueAt(BEFORE, ['plugins', 'use'])).toBeUndefined();
    expect(moveListEntry(['a', 'b', 'c'], 2, 0)).toEqual(['c', 'a', 'b']);
    expect(renameBlockKey(BEFORE.mcp, 'desk', '')).toBe(BEFORE.mcp);
    const path: SettingPath = ['mcp', 'desk', 'args', 0];
    expect(formatPath(path)).toBe('mcp.desk.args[0]');
  });
});
