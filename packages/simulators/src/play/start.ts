import type { PlatformSide } from './side.ts';
import { createPlayClock, createSimulator, type PlayClock, type Simulator } from './simulator.ts';
import type { Platform } from './world.ts';

/** The options of a simulator; everything has a default. */
export interface SimulatorOptions {
  /** Loopback port of the platform; a free one when absent. */
  readonly port?: number;
  /** The clock of the platform; a bot in the same process can share it. */
  readonly clock?: PlayClock;
}

/** A simulator, with what a client needs to be linked to WhatsApp. */
export interface StartedSimulator extends Simulator {
  /** The phone of the account scans a code that a client shows; other platforms need no such thing. */
  scan?(code: string): void;
  /** The certificate of the host of files, in PEM: a client has to trust it. */
  readonly certificate?: string;
}

/**
 * Starts a platform on loopback with people to play: You (the owner of the bot), Ann and Bo, and the group Friends.
 * WhatsApp rejects with `ERR_MODULE_NOT_FOUND` where Baileys is not installed.
 */
export async function startSimulator(
  platform: Platform,
  { port, clock = createPlayClock() }: SimulatorOptions = {},
): Promise<StartedSimulator> {
  if (platform === 'whatsapp') {
    const { startWhatsAppSide } = await import('./whatsapp-side.ts');
    const side = await startWhatsAppSide(clock, port);
    const { certificate } = side;
    return Object.assign(createSimulator(side, clock), {
      certificate,
      scan: (code: string) => side.scan(code),
    });
  }
  const side: PlatformSide =
    platform === 'telegram'
      ? await (await import('./telegram-side.ts')).startTelegramSide(clock, port)
      : await (await import('./discord-side.ts')).startDiscordSide(clock, port);
  return createSimulator(side, clock);
}
