import { SimpleShardingStrategy } from 'discord.js';
import { realAmbience } from './ambience.ts';

/** Longest that saying good-bye may take, in ms; a dead peer would never answer. */
const GOOD_BYE_MS = 2_000;
/** The code of Discord's own libraries for a close after which the session goes on. */
const RESUMING = 4200;
/** `readyState` of a connection that has ended. */
const CLOSED = 3;

/**
 * discord.js's own sharding, which also ends when it is told to. A shard that waits for its next attempt
 * would otherwise go on after `destroy`, and a connection that is only being made, or whose other end is
 * dead, would stay for half a minute.
 */
export class MortalSharding extends SimpleShardingStrategy {
  override async destroy(...options: Parameters<SimpleShardingStrategy['destroy']>): Promise<void> {
    const shards: unknown = Reflect.get(this, 'shards');
    const all: object[] = shards instanceof Map ? [...shards.values()] : [];
    for (const shard of all)
      Reflect.defineProperty(shard, 'internalConnect', { value: () => Promise.resolve() });
    const goodBye = new AbortController();
    const late = realAmbience.wait(GOOD_BYE_MS, goodBye.signal).then(() => cutOff(all));
    // After 1000 the session could not be resumed by the next process.
    await super.destroy({ ...options[0], code: RESUMING });
    goodBye.abort();
    await late;
  }
}

/** Ends the connections that there still are; their complaints have nobody to go to. */
function cutOff(shards: readonly object[]): void {
  for (const shard of shards) {
    const connection: unknown = Reflect.get(shard, 'connection');
    if (typeof connection !== 'object' || connection === null) continue;
    if (Reflect.get(connection, 'readyState') === CLOSED) continue;
    Reflect.set(connection, 'onerror', () => {});
    const terminate: unknown = Reflect.get(connection, 'terminate');
    if (typeof terminate === 'function') terminate.call(connection);
  }
}
