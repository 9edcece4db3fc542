import { reasonOf } from '@parley/core';
import { StoreError, type StoreErrorCode } from '../database.ts';

const ADVICE = {
  'store-unreachable': 'PostgreSQL does not answer. Check that it runs and that the host is right.',
  'store-refused': 'PostgreSQL refuses us. Check user, password and database name in the URL.',
  'store-unwritable':
    'PostgreSQL lets us only read. Grant the user the right to write and create tables.',
  'store-full': "The server's disk is full; nothing was written. Make room on it.",
  'store-busy': 'Another transaction was in the way; nothing was written. Try again.',
  'store-damaged': 'PostgreSQL reports damaged data. Restore the database from a backup.',
  'store-failed': 'A query failed.',
} as const satisfies Partial<Record<StoreErrorCode, string>>;

type PostgresCode = keyof typeof ADVICE;

/** SQLSTATEs (postgresql.org, appendix A), by whole code or by class, the longer name first. */
const BY_STATE: readonly (readonly [start: string, code: PostgresCode])[] = [
  ['3D000', 'store-refused'],
  ['28', 'store-refused'],
  ['25006', 'store-unwritable'],
  ['42501', 'store-unwritable'],
  ['53100', 'store-full'],
  ['53', 'store-unreachable'],
  ['40', 'store-busy'],
  ['55P03', 'store-busy'],
  ['57014', 'store-busy'],
  ['25P03', 'store-busy'],
  ['57', 'store-unreachable'],
  ['08', 'store-unreachable'],
  ['XX001', 'store-damaged'],
  ['XX002', 'store-damaged'],
];

/** Explains what the `pg` driver threw about the database called `name`. */
export function explainPostgresFailure(name: string, thrown: unknown): StoreError {
  if (thrown instanceof StoreError) return thrown;
  const code = codeOf(thrown);
  return new StoreError(code, `${name}: ${ADVICE[code]} (${reasonOf(thrown)})`, thrown);
}

/** Only errors of the server carry a severity; Node's own (ECONNREFUSED) have a code as well. */
export function isFromServer(error: Error): boolean {
  return 'severity' in error;
}

function codeOf(thrown: unknown): PostgresCode {
  if (!(thrown instanceof Error)) return 'store-failed';
  const state = 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';
  if (isFromServer(thrown)) {
    return BY_STATE.find(([start]) => state.startsWith(start))?.[1] ?? 'store-failed';
  }
  const fromTheNetwork = state !== '' || thrown instanceof AggregateError;
  return fromTheNetwork || /connect|timeout/i.test(thrown.message)
    ? 'store-unreachable'
    : 'store-failed';
}
