import {
  type ChannelAdapter,
  type ChannelContext,
  type ChannelDefinition,
  withOptionalLibrary,
} from '@parley/channels';
import type { WhatsAppEnv } from './connection.ts';
import { WHATSAPP_IDS } from './ids.ts';
import { silenceLibsignal } from './logs.ts';
import { CAPABILITIES, WhatsAppSettings } from './settings.ts';

export type { WhatsAppEnv } from './connection.ts';

/** Creates the adapter for one account; tests replace `env`. */
type ConnectWhatsApp = (context: ChannelContext<unknown>, env?: WhatsAppEnv) => ChannelAdapter;

/**
 * Defines the WhatsApp channel, which runs as a linked device. Importing this module loads only the
 * settings schema; `load` loads Baileys.
 */
export const whatsapp = withOptionalLibrary(
  {
    id: 'whatsapp',
    settings: WhatsAppSettings,
    ids: WHATSAPP_IDS,
    // WhatsApp blocks numbers that write to strangers.
    answersStrangers: false,
    async probe(_settings, env) {
      silenceLibsignal();
      const { probeWhatsApp } = await import('./credentials.ts');
      return probeWhatsApp(env);
    },
    async load(): Promise<ConnectWhatsApp> {
      // The filter must be installed before the import, because libsignal prints private keys to
      // the console.
      silenceLibsignal();
      const { createWhatsAppAdapter } = await import('./adapter.ts');
      return (context, env) => {
        const settings = WhatsAppSettings.parse(context.settings);
        return createWhatsAppAdapter({ ...context, settings }, env);
      };
    },
  } satisfies ChannelDefinition,
  {
    platform: 'WhatsApp',
    name: '@whiskeysockets/baileys',
    parts: ['libsignal', 'whatsapp-rust-bridge'],
    note: 'its libsignal part is under GPL-3.0',
    capabilities: CAPABILITIES,
  },
);
