import { expect, it } from 'vitest';
import { carryOverUnusedSessions } from './decrypt.ts';

const session = (used: number, ratchet: string) => ({
  indexInfo: { used },
  currentRatchet: { rootKey: ratchet },
});

it('decrypting a message changes only the session that decrypted it', () => {
  const before = {
    version: 'v1',
    _sessions: { older: session(10, 'a'), newest: session(20, 'b') },
  };
  const after = {
    version: 'v1',
    _sessions: { older: session(30, 'a2'), newest: session(20, 'spoiled'), more: session(5, 'c') },
  };
  expect(carryOverUnusedSessions(before, after)).toEqual({
    version: 'v1',
    _sessions: { older: session(30, 'a2'), newest: session(20, 'b'), more: session(5, 'c') },
  });
});
