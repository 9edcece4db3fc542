import { describe, expect, it } from 'vitest';
import { isNew, markSeen } from './seen.ts';

describe('marks for what is new', () => {
  const seen = { base: 10, upTo: {} };

  it('[U08] a conversation is new until it was looked at, and again with the next message', () => {
    expect(isNew(seen, { id: 'a', newest: 10 })).toBe(false);
    expect(isNew(seen, { id: 'a', newest: 11 })).toBe(true);
    const after = markSeen(seen, { id: 'a', newest: 11 });
    expect(isNew(after, { id: 'a', newest: 11 })).toBe(false);
    expect(isNew(after, { id: 'a', newest: 12 })).toBe(true);
    expect(isNew(after, { id: 'b', newest: 11 })).toBe(true);
    expect(markSeen(after, { id: 'a', newest: 11 })).toBe(after);
  });

  it('[U08] remembers the newest 300 only', () => {
    let all: Parameters<typeof markSeen>[0] = seen;
    for (let nth = 11; nth < 400; nth += 1) all = markSeen(all, { id: `c${nth}`, newest: nth });
    expect(Object.keys(all.upTo)).toHaveLength(300);
    expect(all.upTo.c399).toBe(399);
  });
});
