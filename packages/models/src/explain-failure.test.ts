import { describe, expect, it } from 'vitest';
import { explainFailure } from './explain-failure.ts';
import { ModelError, type ModelFailure } from './model-error.ts';

const ALL: readonly ModelFailure[] = [
  { kind: 'unreachable' },
  { kind: 'broken-off' },
  { kind: 'unauthorised' },
  { kind: 'no-credit' },
  { kind: 'not-found' },
  { kind: 'rate-limited', retryAfterMs: 1_500 },
  { kind: 'overloaded' },
  { kind: 'too-long' },
  { kind: 'refused' },
  { kind: 'no-tools' },
  { kind: 'filtered' },
  { kind: 'rubbish' },
  { kind: 'empty' },
  { kind: 'timeout', phase: 'first-token' },
  { kind: 'timeout', phase: 'stalled' },
  { kind: 'timeout', phase: 'total' },
  { kind: 'aborted' },
];
const model = { id: 'anthropic/claude', server: 'api.example.org' };

describe('the words for a failure', () => {
  it.each(ALL)('[G01] name the model and are whole sentences: $kind', (failure) => {
    expect(explainFailure(failure, model, 'words')).toMatch(/anthropic\/claude.*\.$/);
  });

  it('[G01] say how long a rate-limited model wants to rest, rounded up', () => {
    const words = explainFailure({ kind: 'rate-limited', retryAfterMs: 1_500 }, model, '');
    expect(words).toContain('wants 2 s of rest');
  });

  it('never repeat what a provider says about a key, because some repeat the key', () => {
    const said = 'Incorrect API key provided: sk-12345';
    expect(explainFailure({ kind: 'unauthorised' }, model, said)).not.toContain('sk-12345');
  });

  it('quote a provider on one line of at most 200 characters', () => {
    const words = explainFailure({ kind: 'refused' }, model, `a\n\nb${'x'.repeat(500)}`);
    expect(words).toContain(`(“a b${'x'.repeat(197)}…”)`);
  });
});

describe('a model error', () => {
  it.each([
    ['unreachable', true],
    ['broken-off', true],
    ['overloaded', true],
    ['empty', true],
    ['unauthorised', false],
    ['no-credit', false],
    ['not-found', false],
    ['too-long', false],
    ['refused', false],
    ['no-tools', false],
    ['filtered', false],
    ['rubbish', false],
    ['aborted', false],
  ] as const)('[G01] of kind %s: may be retried: %s', (kind, retryable) => {
    const error = new ModelError({ kind }, 'p/m', 'words');
    expect(error).toMatchObject({ code: `model-${kind}`, retryable, model: 'p/m' });
  });
});
