import type { Reader } from '@parley/core';
import { ModelError, type ModelFailure } from '@parley/models';
import { describe, expect, it } from 'vitest';
import { failureText } from './end-turn.ts';

const owner: Reader = { kind: 'owner', conversationId: 'c' };
const guest: Reader = { kind: 'guest', conversationId: 'c' };
const FAILURES: readonly ModelFailure[] = [
  { kind: 'unreachable' },
  { kind: 'unauthorised' },
  { kind: 'rate-limited', retryAfterMs: 5 },
  { kind: 'too-long' },
  { kind: 'filtered' },
  { kind: 'rubbish' },
  { kind: 'timeout', phase: 'total' },
];
const errorOf = (failure: ModelFailure) =>
  new ModelError(failure, 'openai/gpt', 'openai/gpt at 10.0.0.7 failed. Check apiKey.');

describe('the notice to a person when the model fails', () => {
  it.each(FAILURES)('is all that helps for an owner: $kind', (failure) => {
    expect(failureText(errorOf(failure), owner)).toContain('10.0.0.7');
  });

  it.each(FAILURES)('names neither server, model nor key to anyone else: $kind', (failure) => {
    expect(failureText(errorOf(failure), guest)).not.toMatch(/10\.0|openai|apiKey|settings/);
  });

  it('says to a guest what they can do themselves', () => {
    expect(failureText(errorOf({ kind: 'too-long' }), guest)).toContain('/new');
    expect(failureText(errorOf({ kind: 'filtered' }), guest)).toContain('other words');
  });
});
