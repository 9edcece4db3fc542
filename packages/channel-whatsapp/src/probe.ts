import type { ChannelProbe, ProbeEnv } from '@parley/channels/probe';
import { reasonOf } from '@parley/core';
import { loadCredentials } from './credentials.ts';

/**
 * Whether the account is linked, by what it has stored. Nothing is asked of WhatsApp: a second connection of the
 * same device would end that of a running gateway.
 */
export async function probeWhatsApp({ values }: Pick<ProbeEnv, 'values'>): Promise<ChannelProbe> {
  if (values === null) return { kind: 'unknown', reason: 'the running gateway holds the link' };
  try {
    const { me } = await loadCredentials({
      get: values.get,
      set: async () => {},
      clear: async () => {},
    });
    if (me === undefined) return UNLINKED;
    return { kind: 'works', as: me.name ?? 'a linked device', warnings: [], clock: null };
  } catch (thrown) {
    const reason = reasonOf(thrown);
    return { kind: 'problem', reason, fix: 'Then start Parley again.', retryable: false };
  }
}

const UNLINKED: ChannelProbe = {
  kind: 'unlinked',
  reason: 'no phone is linked yet',
  fix: 'Start Parley and scan the code that the terminal and the page show, in WhatsApp under "Linked devices".',
};
