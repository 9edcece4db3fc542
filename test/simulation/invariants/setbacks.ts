import type { MakeInvariant } from './invariant.ts';

/**
 * Parley notices that an older copy lies in the place of its database, since it would do again what was done (D04);
 * and it never believes so after a power cut, since it then holds back what people wait for (D01).
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
      return ['the database is said to have gone back in time, which it has not'];
    },
    atEnd: ({ observer: { tables } }) =>
      tables.setbacks < expected ? ['an older copy of the database was not noticed'] : [],
  };
};
