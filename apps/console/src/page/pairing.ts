import type { GatewayStatus } from '@parley/gateway/api';
import { h, type VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ask, request } from './gateway.ts';
import { p } from './ui/widgets.ts';

/** A code is good for 20 s at least; while an account waits it is asked for this often, in ms. */
const SOON_MS = 3_000;
/** Otherwise an account that has to be linked again may appear a little later, in ms. */
const LATER_MS = 60_000;

/** The accounts that wait for a phone to scan their code, as long as the page is online. */
export function usePairing(isOnline: boolean): readonly UnlinkedAccount[] {
  const [unlinked, setUnlinked] = useState<readonly UnlinkedAccount[]>([]);
  useEffect(() => {
    if (!isOnline) return;
    let isOver = false;
    let timer: number | undefined;
    const look = async (): Promise<void> => {
      const answer = await ask<Pick<GatewayStatus, 'channels'>>('/api/status');
      if (isOver) return;
      const pairing = pairingOf(answer.kind === 'here' ? answer.value.channels : []);
      setUnlinked((old) => (isSame(old, pairing.unlinked) ? old : pairing.unlinked));
      timer = window.setTimeout(look, pairing.isMoving ? SOON_MS : LATER_MS);
    };
    look();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [isOnline]);
  return isOnline ? unlinked : [];
}

function isSame(a: readonly UnlinkedAccount[], b: readonly UnlinkedAccount[]): boolean {
  return a.length === b.length && a.every(({ id, code }, nth) => is(b[nth], id, code));
}

function is(account: UnlinkedAccount | undefined, id: string, code: string): boolean {
  return account?.id === id && account.code === code;
}

/** An account that waits until a phone scans its code. */
interface UnlinkedAccount {
  /** `channel/account`. */
  readonly id: string;
  readonly channel: string;
  /** The text of the code; compared to know when to fetch a new picture, never shown. */
  readonly code: string;
}

/** The accounts that wait for a phone, and whether that may change soon. */
export function pairingOf(channels: GatewayStatus['channels']) {
  const unlinked: UnlinkedAccount[] = [];
  let isMoving = false;
  for (const { channel, account, state } of channels) {
    isMoving ||= ['pairing', 'starting', 'retrying'].includes(state.kind);
    if (state.kind === 'pairing') {
      unlinked.push({ id: `${channel}/${account}`, channel, code: state.code });
    }
  }
  return { unlinked, isMoving };
}

const NAMES: ReadonlyMap<string, string> = new Map([['whatsapp', 'WhatsApp']]);

/** The code that a phone has to scan, until it has done so. */
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
      p(
        'facts',
        'Keep it to yourself: the phone that scans it decides which account answers here.',
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
    // Without it the alternative text is shown until the next code.
    load().catch(() => undefined);
    return () => {
      isOver = true;
      if (made !== undefined) URL.revokeObjectURL(made);
    };
  }, [path, version]);
  return address;
}
