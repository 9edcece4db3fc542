import { describe, expect, it } from 'vitest';
import { capText, reachedCap, type SpendCaps } from './spend.ts';

/** Tokens and dollars, as tables write them. */
const of = (tokens: number, costUsd = 0) => ({ tokens, costUsd });
const NONE = { person: of(0), group: of(0), total: of(0) };

interface Row {
  readonly caps: Omit<SpendCaps, 'capOwners'>;
  readonly spent?: Partial<typeof NONE>;
  readonly turn?: ReturnType<typeof of>;
  readonly owner?: 'exempt' | 'capped';
  readonly by?: 'stranger';
  readonly reached: ReturnType<typeof reachedCap>;
}
const person = { perPersonDaily: { tokens: 100 } };
const group = { perGroupDaily: { tokens: 100 } };
const total = { totalDaily: { usd: 2 } };

const ROWS: Readonly<Record<string, Row>> = {
  'no caps': { caps: {}, spent: { total: of(9e9, 9e9) }, reached: null },
  'a cap on nothing': { caps: { totalDaily: {} }, spent: { total: of(9e9) }, reached: null },
  'one token left': { caps: person, spent: { person: of(99) }, reached: null },
  'all used': { caps: person, spent: { person: of(100) }, reached: 'perPersonDaily' },
  'used by this turn itself': {
    caps: person,
    spent: { person: of(60) },
    turn: of(40),
    reached: 'perPersonDaily',
  },
  'used by others': { caps: person, spent: { total: of(900) }, reached: null },
  'used by the group': { caps: group, spent: { group: of(100) }, reached: 'perGroupDaily' },
  'used by all': { caps: total, spent: { total: of(1, 2) }, reached: 'totalDaily' },
  'money of this turn': {
    caps: total,
    spent: { total: of(1, 1.5) },
    turn: of(1, 0.5),
    reached: 'totalDaily',
  },
  'money alone left': {
    caps: { perPersonDaily: { tokens: 10, usd: 5 } },
    spent: { person: of(10, 1) },
    reached: 'perPersonDaily',
  },
  'a stranger': {
    caps: { perStrangerDaily: { tokens: 100 }, perPersonDaily: { tokens: 900 } },
    spent: { person: of(100) },
    by: 'stranger',
    reached: 'perStrangerDaily',
  },
  'the cap of strangers, asked by others': {
    caps: { perStrangerDaily: { tokens: 100 } },
    spent: { person: of(100) },
    reached: null,
  },
  'an owner': {
    caps: { ...person, ...group },
    spent: { person: of(999), group: of(999) },
    owner: 'exempt',
    reached: null,
  },
  'an owner who asked for it': {
    caps: person,
    spent: { person: of(999) },
    owner: 'capped',
    reached: 'perPersonDaily',
  },
  'an owner and the total': {
    caps: total,
    spent: { total: of(0, 3) },
    owner: 'exempt',
    reached: 'totalDaily',
  },
};

describe('a spend cap', () => {
  it.each(Object.entries(ROWS))(
    '[G17] with %s',
    (_title, { caps, spent, turn, owner, by, reached }) => {
      const capOwners = owner === 'capped';
      const asks = {
        turn: turn ?? of(0),
        by: owner === undefined ? (by ?? 'known') : 'owner',
      } as const;
      expect(reachedCap({ ...caps, capOwners }, { ...NONE, ...spent }, asks)).toBe(reached);
    },
  );

  it('[G17] is reported in a sentence without figures, and its setting to owners alone', () => {
    const told = (toOwner: boolean) =>
      capText('totalDaily', { timeZone: 'Europe/Berlin', toOwner });
    expect(told(false)).toBe(
      'I have used up what I may use of my model in a day. I can answer again after midnight (Europe/Berlin).',
    );
    expect(told(true)).toContain('spend.totalDaily');
    expect(told(true)).not.toMatch(/\d/);
  });
});
