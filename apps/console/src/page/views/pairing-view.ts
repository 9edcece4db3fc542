import { h, type VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { UnlinkedAccount } from '../pairing/read-pairing.ts';
import { request } from '../session.ts';

const NAMES: ReadonlyMap<string, string> = new Map([['whatsapp', 'WhatsApp']]);

/** The code that a phone has to scan, until it has. */
export function PairingView({ account }: { readonly account: UnlinkedAccount }): VNode {
  const { id, channel, code } = account;
  const name = NAMES.get(channel) ?? channel;
  const picture = usePicture(`/channels/${id}/code.svg`, code);
  return h(
    'section',
    { class: 'pairing', 'aria-label': `Link ${name}` },
    h('img', { src: picture, alt: `QR code that links ${name}`, width: 216, height: 216 }),
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

/** An address in memory of a picture that only the session opens; another one for each `version`. */
function usePicture(path: string, version: string): string {
  const [address, setAddress] = useState('');
  useEffect(() => {
    let made: string | undefined;
    let isOver = false;
    const load = async (): Promise<void> => {
      const response = await request(path, { cache: 'no-store' });
      const picture = await response.blob();
      if (!response.ok || isOver) return;
      made = URL.createObjectURL(picture);
      setAddress(made);
    };
    // Without it the alternative text stands there until the next code.
    load().catch(() => undefined);
    return () => {
      isOver = true;
      if (made !== undefined) URL.revokeObjectURL(made);
    };
  }, [path, version]);
  return address;
}
