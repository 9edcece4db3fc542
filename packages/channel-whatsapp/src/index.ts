import type { ChannelAdapter, ChannelContext, ChannelDefinition } from '@parley/channels';
import type { WhatsAppAmbience } from './ambience.ts';
import { accountWithoutLibrary, isMissingLibrary } from './missing-library.ts';
import { quietLibsignal } from './quiet-libsignal.ts';
import { WhatsAppSettings } from './settings.ts';

export type { WhatsAppAmbience } from './ambience.ts';

/** Makes the adapter of one account; chance and waiting can be given by tests. */
type ConnectWhatsApp = (
  context: ChannelContext<unknown>,
  ambience?: WhatsAppAmbience,
) => ChannelAdapter;

type Library = Pick<typeof import('./adapter.ts'), 'createWhatsAppAdapter'>;

/** WhatsApp as a linked device. Importing this costs the settings schema; Baileys comes with `load`. */
export const whatsapp = whatsappFrom(() => import('./adapter.ts'));

/**
 * The same with another way to the library, for tests. Baileys is optional: its libsignal is under the
 * GPL, which not everybody wants.
 */
export function whatsappFrom(library: () => Promise<Library>) {
  return {
    id: 'whatsapp',
    settings: WhatsAppSettings,
    // Writing to people who are not known is what WhatsApp blocks numbers for.
    answersStrangers: false,
    async load(): Promise<ConnectWhatsApp> {
      // Before the import: libsignal prints private keys.
      quietLibsignal();
      try {
        const { createWhatsAppAdapter } = await library();
        return (context, ambience) => {
          const settings = WhatsAppSettings.parse(context.settings);
          return createWhatsAppAdapter({ ...context, settings }, ambience);
        };
      } catch (thrown) {
        if (!isMissingLibrary(thrown)) throw thrown;
        return accountWithoutLibrary;
      }
    },
  } satisfies ChannelDefinition;
}
