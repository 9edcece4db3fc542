import type { GatewayStatus } from '@parley/gateway/api';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { fetchWithSession } from './gateway.ts';

type ChannelState = GatewayStatus['channels'][number]['state'];

/**
 * An account waiting for a phone, with its code to scan or type. The picture of the code is loaded
 * again when the code changes.
 */
interface UnlinkedAccount extends Omit<Extract<ChannelState, { kind: 'pairing' }>, 'kind'> {
  /** `channel/account`. */
  readonly id: string;
  readonly channel: string;
}

/** The accounts that are waiting for a phone, and whether this may change soon. */
export function listUnlinkedAccounts(
  channels: readonly Pick<GatewayStatus['channels'][number], 'channel' | 'account' | 'state'>[],
) {
  const unlinked: UnlinkedAccount[] = [];
  let isMoving = false;
  for (const { channel, account, state } of channels) {
    isMoving ||= ['pairing', 'starting', 'retrying'].includes(state.kind);
    // The code is empty for people who may not link the account.
    if (state.kind === 'pairing' && state.code !== '') {
      unlinked.push({ id: `${channel}/${account}`, channel, code: state.code, how: state.how });
    }
  }
  return { unlinked, isMoving };
}

const NAMES: ReadonlyMap<string, string> = new Map([['whatsapp', 'WhatsApp']]);

/** The code that links a phone, which is shown until the phone is linked. */
export function PairingView({ account }: { readonly account: UnlinkedAccount }): VNode {
  const { id, channel, code, how } = account;
  const name = NAMES.get(channel) ?? channel;
  const isTyped = how === 'type';
  return (
    <section class="card row pairing" aria-label={`Link ${name}`}>
      {isTyped ? <output>{code}</output> : <Picture id={id} code={code} name={name} />}
      <div>
        <p>
          <b>Link {name} with your phone</b>
        </p>
        <p>
          Open {name} on the phone, choose Settings, Linked devices, Link a device,{' '}
          {isTyped ? 'Link with phone number instead, and type' : 'and scan'} this code. When it
          expires, a new one appears.
        </p>
        <p class="facts">
          Keep it to yourself: anyone who {isTyped ? 'enters' : 'scans'} it links their own account.
        </p>
      </div>
    </section>
  );
}

interface PictureProps {
  readonly id: string;
  readonly code: string;
  readonly name: string;
}

function Picture({ id, code, name }: PictureProps): VNode {
  const picture = useSessionPictureUrl(`/channels/${id}/code.svg`, code);
  return <img src={picture} alt={`QR code that links ${name}`} width={216} height={216} />;
}

/**
 * An object URL for a picture that can be loaded only with a session; each `version` has its own
 * URL.
 */
function useSessionPictureUrl(path: string, version: string): string {
  const [address, setAddress] = useState('');
  useEffect(() => {
    let made: string | undefined;
    let isOver = false;
    const load = async (): Promise<void> => {
      const response = await fetchWithSession(path, { cache: 'no-store' });
      const picture = await response.blob();
      if (!response.ok || isOver) return;
      made = URL.createObjectURL(picture);
      setAddress(made);
    };
    // If loading fails, the alternative text is shown until the next code.
    load().catch(() => undefined);
    return () => {
      isOver = true;
      if (made !== undefined) URL.revokeObjectURL(made);
    };
  }, [path, version]);
  return address;
}
