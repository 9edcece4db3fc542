import type { ChannelAdapter, ChannelContext } from '@parley/channels';
import { type Capabilities, ChannelError } from '@parley/contracts';
import { CAPABILITIES } from './capabilities.ts';

/** Routes of answers are the same as with the library; nothing else is offered. */
const WITHOUT: Capabilities = {
  ...CAPABILITIES,
  typing: false,
  edit: false,
  delete: false,
  react: false,
  media: [],
};

/** Whether this is what Node says of Baileys, or of its GPL part, when it is not there. */
export function isMissingLibrary(thrown: unknown): boolean {
  const isMissing =
    thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_MODULE_NOT_FOUND';
  return isMissing && /'(?:@whiskeysockets\/baileys|libsignal)/.test(thrown.message);
}

/** An account whose library is not installed: says what to do, and keeps answers until that is done. */
export function accountWithoutLibrary({
  report,
}: Pick<ChannelContext<unknown>, 'report'>): ChannelAdapter {
  return {
    capabilities: WITHOUT,
    async start() {
      report({
        kind: 'failed',
        reason: 'WhatsApp needs the library Baileys, which is not installed',
        mend: 'Run "npm install --include=optional", or "npm install @whiskeysockets/baileys@7.0.0-rc14" (a part of it is under GPL-3.0), and start Parley again.',
      });
    },
    async stop() {
      report({ kind: 'stopped' });
    },
    async send() {
      const words = 'The library for WhatsApp is not installed; this is sent when it is.';
      throw new ChannelError({ kind: 'transient' }, words);
    },
  };
}
