import { describe, expect, it } from 'vitest';
import { stopReasonOf } from './lane.ts';

describe('why a turn must end', () => {
  it.each(['stopped', 'lease-lost', 'handed-back'] as const)(
    'is told by the signal: %s',
    (reason) => {
      expect(stopReasonOf(AbortSignal.abort(reason))).toBe(reason);
    },
  );

  it('is nothing while it may go on', () => {
    expect(stopReasonOf(new AbortController().signal)).toBeNull();
  });

  it('counts as handing back when nobody named it', () => {
    expect(stopReasonOf(AbortSignal.abort())).toBe('handed-back');
  });
});
