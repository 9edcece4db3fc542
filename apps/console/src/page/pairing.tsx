import type { GatewayStatus } from '@parley/gateway/api';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { request } from './gateway.ts';

type State = GatewayStatus['channels'][number]['state'];

/** An account that waits for a phone: to scan its code, whose picture is fetched again when it changes, or to type it. */
interface UnlinkedAccount extends Omit<Extract<State, { kind: 'pairing' }>, 'kind'> {
  /** `channel/account`. */
  readonly id: string;
  readonly channel: string;
}

/** The accounts that wait for a phone, and whether that may change soon. */
export function pairingOf(
  channels: readonly Pick<GatewayStatus['channels'][number], 'channel' | 'account' | 'state'>[],
) {
  const unlinked: UnlinkedAccount[] = [];
  let isMoving = false;
  for (const { channel, account, state } of channels) {
    isMoving ||= ['pairing', 'starting', 'retrying'].includes(state.kind);
    // Empty for people who may not link it.
    if (state.kind === 'pairing' && state.code !== '') {
      unlinked.push({ id: `${channel}/${account}`, channel, code: state.code, how: state.how });
    }
  }
  return { unlinked, isMoving };
}

const NAMES: ReadonlyMap<string, string> = new Map([['whatsapp', 'WhatsApp']]);

/** The code that links a phone, until it has done so. */
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
          {isTyped ? 'Link with phone number instead, and type' : 'and scan'} this code. A new one
          follows when it expires.
        </p>
        <p class="facts">
          Keep it to yourself: the phone that {isTyped ? 'takes' : 'scans'} it decides which account
          answers here.
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
  const picture = usePicture(`/channels/${id}/code.svg`, code);
  return <img src={picture} alt={`QR code that links ${name}`} width={216} height={216} />;
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
