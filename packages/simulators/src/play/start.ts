import { createPlayClock, type PlayClock } from './play-clock.ts';
import type { PlatformSide } from './side.ts';
import { createSimulator, type Simulator } from './simulator.ts';
import type { Platform } from './world.ts';

/** The options of a simulator; all of them have defaults. */
export interface SimulatorOptions {
  /** The platform's loopback port; a free one when absent. */
  readonly port?: number;
  /** The platform's clock; a bot in the same process can share it. */
  readonly clock?: PlayClock;
}

/** A running simulator, including what a WhatsApp client needs to be linked. */
export interface StartedSimulator extends Simulator {
  /** Scans a code shown by a client, as the account's phone. Present only for WhatsApp. */
  scan?(code: string): void;
  /** The certificate of the file host in PEM, which a client must trust. */
  readonly certificate?: string;
}

/**
 * Starts a platform on loopback with people to play: You (the owner of the bot), Ann and Bo, and
 * the group Friends. For WhatsApp, rejects with `ERR_MODULE_NOT_FOUND` when Baileys is not
 * installed.
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
  return createSimulator(await startSide(platform, clock, port), clock);
}

async function startSide(
  platform: Exclude<Platform, 'whatsapp'>,
  clock: PlayClock,
  port: number | undefined,
): Promise<PlatformSide> {
  switch (platform) {
    case 'telegram':
      return (await import('./telegram-side.ts')).startTelegramSide(clock, port);
    case 'discord':
      return (await import('./discord-side.ts')).startDiscordSide(clock, port);
    case 'slack':
      return (await import('./slack-side.ts')).startSlackSide(clock, port);
  }
}
