import { createPlayClock, type PlayClock } from './play-clock.ts';
import type { PlatformBackend } from './side.ts';
import { createSimulator, type Simulator } from './simulator.ts';
import type { Platform } from './world.ts';

/** The options of a simulator; each has a default. */
export interface SimulatorOptions {
  /** The platform's loopback port; a free port when absent. */
  readonly port?: number;
  /** The clock of the platform, which a bot in the same process can share. */
  readonly clock?: PlayClock;
}

/** A running simulator, including the data that a WhatsApp client needs for linking. */
export interface StartedSimulator extends Simulator {
  /** Uses the account's phone to scan a code that a client shows; present only for WhatsApp. */
  scan?(code: string): void;
  /** The certificate of the file host in PEM format, which a client must trust. */
  readonly certificate?: string;
}

/**
 * Starts a platform on loopback with three people, You (the owner of the bot), Ann and Bo, and the
 * group Friends. For WhatsApp, the promise rejects with `ERR_MODULE_NOT_FOUND` when Baileys is not
 * installed.
 */
export async function startSimulator(
  platform: Platform,
  { port, clock = createPlayClock() }: SimulatorOptions = {},
): Promise<StartedSimulator> {
  if (platform === 'whatsapp') {
    const { startWhatsAppBackend } = await import('./whatsapp-side.ts');
    const side = await startWhatsAppBackend(clock, port);
    const { certificate } = side;
    return Object.assign(createSimulator(side, clock), {
      certificate,
      scan: (code: string) => side.scan(code),
    });
  }
  return createSimulator(await startBackend(platform, clock, port), clock);
}

async function startBackend(
  platform: Exclude<Platform, 'whatsapp'>,
  clock: PlayClock,
  port: number | undefined,
): Promise<PlatformBackend> {
  switch (platform) {
    case 'telegram':
      return (await import('./telegram-side.ts')).startTelegramBackend(clock, port);
    case 'discord':
      return (await import('./discord-side.ts')).startDiscordBackend(clock, port);
    case 'slack':
      return (await import('./slack-side.ts')).startSlackBackend(clock, port);
  }
}
