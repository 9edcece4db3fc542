import { describe, expect, it } from 'vitest';
import { groupRewound } from './folded.tsx';

const STATES = { s: 'shown', r: 'rewound', b: 'beside' } as const;

describe('rewound messages', () => {
  it.each([
    ['', ''],
    ['s1 s2', 's1 s2'],
    ['s1 r2 r3 s4', 's1 [r2 r3] s4'],
    ['r1 b2 r3', '[r1 b2 r3]'],
    ['s1 r2 b3 b4 s5 b6', 's1 [r2] b3 b4 s5 b6'],
    ['b1 r2 b3', 'b1 [r2] b3'],
    ['r1 s2 r3', '[r1] s2 [r3]'],
  ])('[G23] are folded in runs, with commands between them: %j', (entries, folded) => {
    const groups = groupRewound(
      entries.split(' ').filter((one) => one !== ''),
      (entry) => STATES[entry[0] as keyof typeof STATES],
    );
    const shown = groups.map((group) => {
      const line = group.entries.join(' ');
      return group.isRewound ? `[${line}]` : line;
    });
    expect(shown.join(' ')).toBe(folded);
  });
});
