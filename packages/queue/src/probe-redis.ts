import { once } from 'node:events';
import { reasonOf } from '@parley/core';
import { complaints, connectRedis, innermost } from './connect-redis.ts';
import type { RedisPlace } from './open-bus.ts';

/** What one look at Redis has found. Texts hold no password. */
export type RedisProbe =
  | { readonly kind: 'works'; readonly version: string; readonly complaints: readonly string[] }
  | { readonly kind: 'problem'; readonly reason: string };

/** Connects once and asks Redis how it is set up. Never rejects; the deadline is the signal's. */
export async function probeRedis(place: RedisPlace, signal: AbortSignal): Promise<RedisProbe> {
  const connection = connectRedis(place, 'ask');
  // It would try again and again; the first refusal counts, and later ones must have a listener.
  const ready = once(connection, 'ready', { signal });
  connection.on('error', () => {});
  try {
    await ready;
    const info = await connection.info();
    const version =
      /^(?:valkey|redis)_version:(\S+?)\r?$/m.exec(info)?.[1] ?? 'of an unknown version';
    return { kind: 'works', version, complaints: complaints(info).map(({ message }) => message) };
  } catch (thrown) {
    const reason = signal.aborted ? 'no answer in time' : reasonOf(innermost(thrown));
    return { kind: 'problem', reason };
  } finally {
    connection.disconnect();
  }
}
