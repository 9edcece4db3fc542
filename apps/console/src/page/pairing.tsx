import type { ShownAccount } from '@parley/gateway/api';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { request } from './gateway.ts';

/** An account that waits until a phone scans its code. */
interface UnlinkedAccount {
  /** `channel/account`. */
  readonly id: string;
  readonly channel: string;
  /** The text of the code; compared to know when to fetch a new picture, never shown. */
  readonly code: string;
}

/** The accounts that wait for a phone, and whether that may change soon. */
export function pairingOf(
  channels: readonly Pick<ShownAccount, 'channel' | 'account' | 'state'>[],
) {
  const unlinked: UnlinkedAccount[] = [];
  let isMoving = false;
  for (const { channel, account, state } of channels) {
    isMoving ||= ['pairing', 'starting', 'retrying'].includes(state.kind);
    // Empty for people who may not link it.
    if (state.kind === 'pairing' && state.code !== '') {
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
  return (
    <section class="pairing" aria-label={`Link ${name}`}>
      <img src={picture} alt={`QR code that links ${name}`} width={216} height={216} />
      <div>
        <p>
          <b>Link {name} with your phone</b>
        </p>
        <p>
          Open {name} on the phone, choose Settings, Linked devices, Link a device, and scan this
          code. A new one follows when it expires.
        </p>
        <p class="facts">
          Keep it to yourself: the phone that scans it decides which account answers here.
        </p>
      </div>
    </section>
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
