import type { MakeInvariant } from './invariant.ts';

/**
 * Parley notices when its database was replaced by an older copy, since it would otherwise repeat
 * work (D04); after a power cut it never assumes this, since it would otherwise hold back pending
 * answers (D01).
 */
export const setbacksAreTrue: MakeInvariant = () => {
  let expected = 0;
  return {
    id: 'D01',
    afterStep: ({ changes }, { observer: { tables } }) => {
      const [first] = changes;
      if (first?.kind === 'rewound' && first.by === 'older-copy') expected = tables.setbacks + 1;
      if (tables.setbacks <= expected) return [];
      expected = tables.setbacks;
      return ['Parley reported that the database had gone back in time, but it had not'];
    },
    atEnd: ({ observer: { tables } }) =>
      tables.setbacks < expected ? ['an older copy of the database was not noticed'] : [],
  };
};
