import type { SocketConfig } from '@whiskeysockets/baileys';

/** A logger for Baileys that says nothing. */
export function silentLogger(): SocketConfig['logger'] {
  const nothing = () => {};
  return {
    level: 'silent',
    child: () => silentLogger(),
    trace: nothing,
    debug: nothing,
    info: nothing,
    warn: nothing,
    error: nothing,
  };
}
