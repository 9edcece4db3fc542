import { randomBytes } from 'node:crypto';
import {
  type BinaryNode,
  Curve,
  hmacSign,
  proto,
  S_WHATSAPP_NET,
  WA_ADV_ACCOUNT_SIG_PREFIX,
  WA_ADV_DEVICE_SIG_PREFIX,
} from '@whiskeysockets/baileys';
import { verifySignature } from 'libsignal/src/curve.js';
import type { Account } from './account.ts';
import { Companion } from './companion.ts';
import type { ClientLink } from './wire/client-link.ts';
import { bytes, child, node } from './wire/nodes.ts';
import { withTypeByte } from './wire/server-identity.ts';

const REFS = 6;
const QR_ADDRESS = 'https://wa.me/settings/linked_devices#';

interface Scanned {
  readonly query: string;
  readonly details: Uint8Array;
  readonly companion: Companion;
}

/** A client that is not linked yet: it shows codes until a phone scans one. */
export class Pairing {
  readonly link: ClientLink;
  /** What the codes begin with; the client shows one after the other. */
  readonly refs: readonly string[];
  readonly #account: Account;
  readonly #noiseKey: Uint8Array;
  readonly #identity: Uint8Array;
  #scanned: Scanned | undefined;

  constructor(
    account: Account,
    link: ClientLink,
    noiseKey: Uint8Array,
    payload: proto.ClientPayload,
  ) {
    this.link = link;
    this.refs = Array.from({ length: REFS }, () => `2@${randomBytes(64).toString('base64')}`);
    this.#account = account;
    this.#noiseKey = noiseKey;
    this.#identity = payload.devicePairingData?.eIdent ?? Buffer.alloc(0);
  }

  /** Hands the client what its codes begin with. */
  offer(): void {
    const refs = this.refs.map((ref) => node('ref', {}, Buffer.from(ref)));
    this.link.send(
      node(
        'iq',
        { from: S_WHATSAPP_NET, type: 'set', id: randomBytes(4).toString('hex'), xmlns: 'md' },
        [node('pair-device', {}, refs)],
      ),
    );
  }

  /**
   * The phone scans what the client shows and vouches for it.
   * @throws Error for a code that is old, or not this client's.
   */
  scan(qr: string, device: number): void {
    const text = qr.startsWith(QR_ADDRESS) ? qr.slice(QR_ADDRESS.length) : qr;
    const [ref = '', noise = '', identity = '', secret = ''] = text.split(',');
    if (!this.refs.includes(ref)) throw new Error('This code is not valid any more');
    if (!Buffer.from(noise, 'base64').equals(this.#noiseKey)) throw new Error('Another noise key');
    if (!Buffer.from(identity, 'base64').equals(this.#identity))
      throw new Error('Another identity');
    const { me } = this.#account;
    const companion = new Companion(me, device, this.#noiseKey);
    const details = proto.ADVDeviceIdentity.encode({
      rawId: randomBytes(4).readUInt32BE(),
      timestamp: Math.floor(this.#account.clock() / 1000),
      keyIndex: device,
    }).finish();
    const query = randomBytes(4).toString('hex');
    this.#scanned = { query, details, companion };
    this.link.send(
      node('iq', { from: S_WHATSAPP_NET, type: 'set', id: query, xmlns: 'md' }, [
        node('pair-success', {}, [
          node('device-identity', {}, this.#vouch(details, Buffer.from(secret, 'base64'))),
          node('device', { jid: companion.pn, lid: companion.lid }),
          node('platform', { name: 'android' }),
        ]),
      ]),
    );
  }

  /**
   * Reads the client's answer to the scan: the companion, when it is one.
   * @throws Error when its signature is not from the identity it showed.
   */
  finish(answer: BinaryNode): Companion | undefined {
    const scanned = this.#scanned;
    if (scanned === undefined || answer.attrs.id !== scanned.query) return undefined;
    const signed = proto.ADVSignedDeviceIdentity.decode(
      bytes(child(child(answer, 'pair-device-sign'), 'device-identity')),
    );
    const { signedIdentityKey } = this.#account.me.phone.creds;
    const message = Buffer.concat([
      WA_ADV_DEVICE_SIG_PREFIX,
      scanned.details,
      this.#identity,
      signedIdentityKey.public,
    ]);
    const signature = Buffer.from(signed.deviceSignature ?? []);
    if (!verifySignature(withTypeByte(this.#identity), message, signature)) {
      throw new Error("The client's device signature is wrong");
    }
    return scanned.companion;
  }

  #vouch(details: Uint8Array, secret: Buffer): Uint8Array {
    const { signedIdentityKey } = this.#account.me.phone.creds;
    const message = Buffer.concat([WA_ADV_ACCOUNT_SIG_PREFIX, details, this.#identity]);
    const signed = proto.ADVSignedDeviceIdentity.encode({
      details,
      accountSignatureKey: signedIdentityKey.public,
      accountSignature: Curve.sign(signedIdentityKey.private, message),
    }).finish();
    return proto.ADVSignedDeviceIdentityHMAC.encode({
      details: signed,
      hmac: hmacSign(signed, secret),
    }).finish();
  }
}
