import { describe, expect, it } from 'vitest';
import { StoreError } from '../database.ts';
import { explainPostgresFailure } from './open-postgres.ts';

const explain = (thrown: unknown) => explainPostgresFailure('postgres://db/parley', thrown);
const fromServer = (code: string) =>
  Object.assign(new Error('server says'), { severity: 'FATAL', code });

describe('a failure of PostgreSQL', () => {
  it.each([
    ['57P01', 'store-unreachable', true],
    ['57P03', 'store-unreachable', true],
    ['53300', 'store-unreachable', true],
    ['08006', 'store-unreachable', true],
    ['40P01', 'store-busy', true],
    ['55P03', 'store-busy', true],
    ['28P01', 'store-refused', false],
    ['3D000', 'store-refused', false],
    ['42501', 'store-unwritable', false],
    ['25006', 'store-unwritable', false],
    ['53100', 'store-full', false],
    ['XX001', 'store-damaged', false],
    ['23505', 'store-failed', false],
  ])('with state %s is %s', (state, code, retryable) => {
    expect(explain(fromServer(state))).toMatchObject({
      code,
      retryable,
      message: expect.stringContaining('postgres://db/parley'),
    });
  });

  it.each([
    Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
    Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }),
    new Error('Connection terminated unexpectedly'),
    new Error('timeout exceeded when trying to connect'),
    new AggregateError([new Error('connect ECONNREFUSED ::1:5432')], ''),
  ])('of the network is worth another try: $message', (thrown) => {
    expect(explain(thrown)).toMatchObject({ code: 'store-unreachable', retryable: true });
  });

  it('keeps a StoreError, and calls a mistake of ours a mistake', () => {
    const known = new StoreError('store-part-state', 'known');
    expect(explain(known)).toBe(known);
    expect(explain(new TypeError('x is not a function')).code).toBe('store-failed');
    expect(explain(undefined).code).toBe('store-failed');
  });
});
