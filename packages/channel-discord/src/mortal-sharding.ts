import { SimpleShardingStrategy } from 'discord.js';

const CONNECTING = 0;

/**
 * discord.js's own sharding, which also ends when it is told to: a shard that waits for its next
 * attempt, or whose connection is only being made, would otherwise go on for ever after `destroy`.
 */
export class MortalSharding extends SimpleShardingStrategy {
  override async destroy(...options: Parameters<SimpleShardingStrategy['destroy']>): Promise<void> {
    const shards: unknown = Reflect.get(this, 'shards');
    const all: object[] = shards instanceof Map ? [...shards.values()] : [];
    for (const shard of all)
      Reflect.defineProperty(shard, 'internalConnect', { value: () => Promise.resolve() });
    await super.destroy(...options);
    for (const shard of all) abandon(Reflect.get(shard, 'connection'));
  }
}

/** Ends a connection before it is made; its complaint has nobody to go to any more. */
function abandon(connection: unknown): void {
  if (typeof connection !== 'object' || connection === null) return;
  if (Reflect.get(connection, 'readyState') !== CONNECTING) return;
  Reflect.set(connection, 'onerror', () => {});
  const close: unknown = Reflect.get(connection, 'close');
  if (typeof close === 'function') close.call(connection);
}
