import type { CommittedParts, LiveBus } from '@parley/core';
import { type BusOptions, createLocalBus, type OpenLiveBus } from './local-bus.ts';
import { createUnknownUrlError } from './redis-location.ts';

/**
 * Opens the live bus. Also resolves if Redis is unreachable; live events are lost until Redis is
 * back.
 */
export async function openLiveBus(options: BusOptions): Promise<OpenLiveBus> {
  const local = createLocalBus(options.log);
  if (options.url === 'memory:') return { ...local, async close() {} };
  if (!/^rediss?:\/\//.test(options.url)) throw createUnknownUrlError(options.url);
  const { openRedisBus } = await import('./redis-bus.ts');
  return openRedisBus(options, local);
}

/**
 * Wakes the deliveries to a chat: directly in this process, and with one publish in the gateway
 * that is connected to the account.
 */
export type WakeDelivery = (
  channel: string,
  account: string,
  chatId: string,
  fresh?: CommittedParts,
) => Promise<void>;

/** Creates a `WakeDelivery` from a bus. */
export function createWakeDelivery(bus: LiveBus): WakeDelivery {
  return async (channel, account, chatId, fresh) =>
    bus.publish({ type: 'delivery-due', channel, account, chatId, fresh });
}
