import type { FreshParts, LiveBus } from '@parley/core';
import { type BusOptions, createLocalBus, type OpenBus } from './local-bus.ts';
import { unknownUrl } from './redis-location.ts';

/** Opens the live bus. Resolves without Redis, too: live events are lost until it is there. */
export async function openBus(options: BusOptions): Promise<OpenBus> {
  const local = createLocalBus(options.log);
  if (options.url === 'memory:') return { ...local, async close() {} };
  if (!/^rediss?:\/\//.test(options.url)) throw unknownUrl(options.url);
  const { openRedisBus } = await import('./redis-bus.ts');
  return openRedisBus(options, local);
}

/** Wakes the deliveries of a chat: here at once, in the gateway that is connected as the account by one publish. */
export type WakeDelivery = (
  channel: string,
  account: string,
  chatId: string,
  fresh?: FreshParts,
) => Promise<void>;

/** Makes it from a bus. */
export function wakeDeliveryOn(bus: LiveBus): WakeDelivery {
  return async (channel, account, chatId, fresh) =>
    bus.publish({ type: 'delivery-due', channel, account, chatId, fresh });
}
