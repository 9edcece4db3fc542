import type { ChannelAdapter, ChannelContext, ChannelDefinition } from '@parley/channels';
import { type Capabilities, ChannelError } from '@parley/core';
import type { WhatsAppEnv } from './connection.ts';
import { quietLibsignal } from './logs.ts';
import { CAPABILITIES, WhatsAppSettings } from './settings.ts';

export type { WhatsAppEnv } from './connection.ts';

/** Creates the adapter of one account; tests replace `env`. */
type ConnectWhatsApp = (context: ChannelContext<unknown>, env?: WhatsAppEnv) => ChannelAdapter;

type Library = Pick<typeof import('./adapter.ts'), 'createWhatsAppAdapter'>;

const NOT_INSTALLED = {
  reason: 'WhatsApp needs the library Baileys, which is not installed',
  fix: 'Run "npm install --include=optional", or "npm install @whiskeysockets/baileys@7.0.0-rc14" (a part of it is under GPL-3.0), and start Parley again.',
};

/** WhatsApp as a linked device. This import loads the settings schema only; `load` loads Baileys. */
export const whatsapp = whatsappFrom(() => import('./adapter.ts'));

/**
 * The same with another loader, for tests. Baileys is optional: its libsignal is under the GPL, which not
 * everyone wants.
 */
export function whatsappFrom(library: () => Promise<Library>) {
  return {
    id: 'whatsapp',
    settings: WhatsAppSettings,
    // WhatsApp blocks numbers that write to strangers.
    answersStrangers: false,
    async probe(_settings, env) {
      quietLibsignal();
      try {
        await library();
        const { probeWhatsApp } = await import('./credentials.ts');
        return await probeWhatsApp(env);
      } catch (thrown) {
        if (!isMissingLibrary(thrown)) throw thrown;
        return { kind: 'problem', ...NOT_INSTALLED, retryable: false };
      }
    },
    async load(): Promise<ConnectWhatsApp> {
      // Before the import: libsignal prints private keys.
      quietLibsignal();
      try {
        const { createWhatsAppAdapter } = await library();
        return (context, env) => {
          const settings = WhatsAppSettings.parse(context.settings);
          return createWhatsAppAdapter({ ...context, settings }, env);
        };
      } catch (thrown) {
        if (!isMissingLibrary(thrown)) throw thrown;
        return accountWithoutLibrary;
      }
    },
  } satisfies ChannelDefinition;
}

/** The same format of answers as with the library, and no other capability. */
const WITHOUT: Capabilities = {
  ...CAPABILITIES,
  typing: false,
  edit: false,
  delete: false,
  react: false,
  media: [],
};

/** Whether this is Node's error for a missing Baileys, or its missing GPL part. */
export function isMissingLibrary(thrown: unknown): boolean {
  const isMissing =
    thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_MODULE_NOT_FOUND';
  return isMissing && /'(?:@whiskeysockets\/baileys|libsignal)/.test(thrown.message);
}

/** An account whose library is not installed: reports what to do, and keeps answers until then. */
export function accountWithoutLibrary({
  report,
}: Pick<ChannelContext<unknown>, 'report'>): ChannelAdapter {
  return {
    capabilities: WITHOUT,
    async start() {
      report({ kind: 'failed', ...NOT_INSTALLED });
    },
    async stop() {
      report({ kind: 'stopped' });
    },
    async send() {
      const message = 'The library for WhatsApp is not installed; this is sent once it is.';
      throw new ChannelError({ kind: 'transient' }, message);
    },
  };
}
