import type { ChannelAdapter, ChannelContext, ChannelDefinition } from '@parley/channels';
import type { WhatsAppAmbience } from './ambience.ts';
import { quietLibsignal } from './quiet-libsignal.ts';
import { WhatsAppSettings } from './settings.ts';
import { WhatsAppError } from './whatsapp-error.ts';

export type { WhatsAppAmbience } from './ambience.ts';

/** Makes the adapter of one account; chance and waiting can be given by tests. */
type ConnectWhatsApp = (
  context: ChannelContext<unknown>,
  ambience?: WhatsAppAmbience,
) => ChannelAdapter;

/** WhatsApp as a linked device. Importing this costs the settings schema; Baileys comes with `load`. */
export const whatsapp = {
  id: 'whatsapp',
  settings: WhatsAppSettings,
  // An answer would tell a stranger, or a spammer, that the number is alive.
  answersStrangers: false,
  async load(): Promise<ConnectWhatsApp> {
    // Before the import: libsignal prints private keys.
    quietLibsignal();
    const { createWhatsAppAdapter } = await import('./adapter.ts').catch(explainMissing);
    return (context, ambience) => {
      const settings = WhatsAppSettings.parse(context.settings);
      return createWhatsAppAdapter({ ...context, settings }, ambience);
    };
  },
} satisfies ChannelDefinition;

/** Baileys is optional: its libsignal is under the GPL, which not everybody wants. */
function explainMissing(thrown: unknown): never {
  const isMissing =
    thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_MODULE_NOT_FOUND';
  if (!isMissing || !/baileys/.test(thrown.message)) throw thrown;
  throw new WhatsAppError(
    'whatsapp-not-installed',
    'WhatsApp needs a library that is not installed: run npm install --include=optional, or npm install @whiskeysockets/baileys@7.0.0-rc14, and start Parley again.',
    thrown,
  );
}
