import type { Rate } from '@parley/core';
import { FloodControl, REAL_LIMITS, Refusal } from '@parley/simulators/telegram';
import { afterEach, describe, expect, it } from 'vitest';
import { endScenes, startTelegramScene } from './adapter-scene.ts';

afterEach(endScenes);

/** The number of sends that the servers refuse at these rates within `seconds`. */
function refusedWithin(seconds: number, chats: readonly number[], perChat: Rate, account: Rate) {
  let now = 0;
  const flood = new FloodControl(REAL_LIMITS, () => now);
  const fullAt = new Map<number | string, number>();
  const wait = (key: number | string, rate: Rate) =>
    (fullAt.get(key) ?? 0) - (rate.burst - 1) * rate.everyMs - now;
  const take = (key: number | string, rate: Rate) =>
    fullAt.set(key, Math.max(fullAt.get(key) ?? 0, now) + rate.everyMs);
  let refused = 0;
  for (; now < seconds * 1_000; now += 10) {
    for (const chat of chats) {
      if (wait(chat, perChat) > 0 || wait('account', account) > 0) continue;
      take(chat, perChat);
      take('account', account);
      try {
        flood.pass(chat);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        refused += 1;
      }
    }
  }
  return refused;
}

describe('the rates that the Telegram adapter declares', () => {
  it.each<[string, number[], 'direct' | 'group']>([
    ['one private chat', [501], 'direct'],
    ['one group', [-5], 'group'],
    ['a hundred private chats', Array.from({ length: 100 }, (_, index) => index + 1), 'direct'],
  ])('[D05] do not cause refusals in %s', async (_name, chats, kind) => {
    const { rates } = (await startTelegramScene()).adapter.capabilities;
    const perChat = rates?.[kind];
    const account = rates?.account;
    if (perChat === undefined || account === undefined) throw new Error('no rates are declared');
    expect(refusedWithin(70, chats, perChat, account)).toBe(0);
    const hasty = { burst: 40, everyMs: 10 };
    expect(refusedWithin(5, chats, hasty, hasty)).toBeGreaterThan(0);
  });

  it('are unlimited for a server without limits', async () => {
    const { adapter } = await startTelegramScene({ settings: () => ({ pace: false }) });
    expect(adapter.capabilities.rates).toBeUndefined();
  });
});
