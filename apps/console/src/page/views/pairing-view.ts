import { h, type VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { UnlinkedAccount } from '../pairing/read-pairing.ts';

const NAMES: ReadonlyMap<string, string> = new Map([['whatsapp', 'WhatsApp']]);

/** The code that a phone has to scan, until it has. */
export function PairingView({ account }: { readonly account: UnlinkedAccount }): VNode {
  const { id, channel, code } = account;
  const name = NAMES.get(channel) ?? channel;
  // The code itself must not stand in an address: addresses are kept in histories and logs. A new code needs a new one.
  const address = useMemo(() => `/channels/${id}/code.svg?at=${Date.now()}`, [id, code]);
  return h(
    'section',
    { class: 'pairing', 'aria-label': `Link ${name}` },
    h('img', { src: address, alt: `QR code that links ${name}`, width: 216, height: 216 }),
    h(
      'div',
      null,
      h('h2', null, `Link ${name} with your phone`),
      h(
        'p',
        null,
        `Open ${name} on the phone, choose Settings, Linked devices, Link a device, and scan this code. A new one follows when it expires.`,
      ),
      h(
        'p',
        { class: 'pairing-care' },
        'Show it to nobody: whoever scans it decides which account answers here.',
      ),
    ),
  );
}
