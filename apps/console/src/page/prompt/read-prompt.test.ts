import { describe, expect, it } from 'vitest';
import { readComparison, stretchesOf } from './read-comparison.ts';
import { readSheet, readTurnPage } from './read-prompt.ts';

const TURN = {
  turnId: 't1',
  at: 5,
  layout: 'parley',
  tokens: 3,
  place: { channel: 'web', chatType: 'direct', personName: '<b>Ann</b>' },
};

describe('what the page understands of prompts', () => {
  it('[P17] the list, without what it cannot show', () => {
    const { turns, next } = readTurnPage({ prompts: [TURN, { turnId: 5 }, null], next: '5~t1' });
    expect(turns).toMatchObject([{ turnId: 't1', channel: 'web', title: null }]);
    expect(next).toBe('5~t1');
    expect(readTurnPage('nonsense')).toEqual({ turns: [], next: null });
  });

  it('[P17] [W02] who may see a layer; what it does not understand counts as private', () => {
    const audiences = [
      { kind: 'everyone' },
      { kind: 'conversation' },
      { kind: 'owner' },
      { kind: 'x' },
    ];
    const parts = [...audiences, undefined].map((audience) => ({
      layer: 'l',
      audience,
      text: 't',
    }));
    const sheet = readSheet({ ...TURN, parts });
    expect(sheet?.layers.map(({ audience }) => audience)).toEqual([
      'everyone',
      'this chat',
      'owner',
      'owner',
      'owner',
    ]);
  });

  it('[P17] why a layer is not there', () => {
    const unsent = [
      { layer: 'a', outcome: 'absent', reason: 'no file' },
      { layer: 'b', outcome: 'withheld', source: 'MEMORY.md', audience: { kind: 'owner' } },
      { layer: 'c', outcome: 'failed', reason: 'it broke' },
    ];
    expect(readSheet({ ...TURN, unsent })?.unsent.map(({ reason }) => reason)).toEqual([
      'no file',
      'MEMORY.md is for owner, not for who asked',
      'it broke',
    ]);
    expect(readSheet({})).toBeNull();
  });

  it('[P17] where the shared beginning ends, also within a line', () => {
    const pieces = [
      { kind: 'same', text: 'day\n' },
      { kind: 'removed', text: '14:05\n' },
      { kind: 'added', text: '14:06\n' },
      { kind: 'same', text: 'zone' },
    ];
    const comparison = readComparison({ share: 0.5, parts: [{ layer: 'l', pieces, shared: 8 }] });
    const [layer] = comparison?.layers ?? [];
    if (!layer) throw new Error('there is no layer');
    expect(stretchesOf(layer)).toEqual([
      { kind: 'same', text: 'day\n', shared: true },
      { kind: 'removed', text: '14:0', shared: true },
      { kind: 'removed', text: '5\n', shared: false },
      { kind: 'added', text: '14:0', shared: true },
      { kind: 'added', text: '6\n', shared: false },
      { kind: 'same', text: 'zone', shared: false },
    ]);
    expect(readComparison({})).toBeNull();
  });
});
