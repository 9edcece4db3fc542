import type { MakeInvariant } from './invariant.ts';

/**
 * Parley notices when its database was replaced by an older copy, since it would otherwise repeat
 * work (D04); and it never assumes so after a power cut, since it would then hold back what people
 * are waiting for (D01).
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
