import { randomBytes } from 'node:crypto';
import {
  type AuthenticationCreds,
  type BinaryNode,
  Curve,
  hmacSign,
  initAuthCreds,
  type KeyPair,
  proto,
  S_WHATSAPP_NET,
  type SignalDataSet,
  WA_ADV_ACCOUNT_SIG_PREFIX,
  WA_ADV_DEVICE_SIG_PREFIX,
} from '@whiskeysockets/baileys';
import { verifySignature } from 'libsignal/src/curve.js';
import { Companion, type SimulatedAccount } from './account.ts';
import { addTypeByte } from './signal.ts';
import { TypedCodeLinking } from './typed-code.ts';
import {
  buildNode,
  type ClientLink,
  createRefusal,
  createResult,
  findChild,
  readBytes,
} from './wire.ts';

const REFS = 6;
const QR_ADDRESS = 'https://wa.me/settings/linked_devices#';

interface ScanResult {
  readonly query: string;
  readonly details: Uint8Array;
  readonly companion: Companion;
}

/**
 * A client that is not linked yet: it shows codes until a phone scans one or the user types one on
 * the phone.
 */
export class Pairing {
  readonly link: ClientLink;
  /** The references at the start of the codes; the client shows one code after the other. */
  readonly refs: readonly string[];
  /** The number whose phone accepts the typed code. */
  phone: string | undefined;
  readonly #account: SimulatedAccount;
  readonly #noiseKey: Uint8Array;
  readonly #identity: Uint8Array;
  #scanned: ScanResult | undefined;
  #typed: TypedCodeLinking | undefined;
  /** A promise that settles when the client has responded to a typed code. */
  #typing: PromiseWithResolvers<void> | undefined;

  constructor(
    account: SimulatedAccount,
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

  offer(): void {
    const refs = this.refs.map((ref) => buildNode('ref', {}, Buffer.from(ref)));
    this.link.send(
      buildNode(
        'iq',
        { from: S_WHATSAPP_NET, type: 'set', id: randomBytes(4).toString('hex'), xmlns: 'md' },
        [buildNode('pair-device', {}, refs)],
      ),
    );
  }

  /**
   * Scans a code of the client with the phone and signs the client's identity.
   * @throws Error for a code that has expired or belongs to another client
   */
  scan(qr: string, device: number): void {
    const text = qr.startsWith(QR_ADDRESS) ? qr.slice(QR_ADDRESS.length) : qr;
    const [ref = '', noise = '', identity = '', secret = ''] = text.split(',');
    if (!this.refs.includes(ref)) throw new Error('This code is no longer valid');
    if (!Buffer.from(noise, 'base64').equals(this.#noiseKey)) throw new Error('Another noise key');
    if (!Buffer.from(identity, 'base64').equals(this.#identity))
      throw new Error('Another identity');
    this.#vouchFor(device, Buffer.from(secret, 'base64'));
  }

  /** Handles the client's request for a code to type; a new code replaces the old one. */
  hello(query: BinaryNode, hello: BinaryNode): BinaryNode {
    const typed = new TypedCodeLinking(this.#account, this.#noiseKey, this.#identity, hello);
    const why = typed.refusal(hello);
    if (why !== undefined) return createRefusal(query, 400, why);
    this.#typed = typed;
    this.phone = hello.attrs.jid;
    return createResult(query, [typed.accepted()]);
  }

  /**
   * Submits a typed code from the account's phone.
   * @throws Error if the code is wrong, or if no code is shown for this number
   */
  async type(code: string): Promise<void> {
    if (this.#typed === undefined) throw new Error('This client does not show a code to type');
    if (this.phone !== this.#account.me.pn)
      throw new Error("The code is for another number's phone");
    const notice = await this.#typed.type(code.replace('-', '').toUpperCase());
    this.#typing = Promise.withResolvers();
    this.link.send(notice);
    await this.#typing.promise;
  }

  /** Handles the client's response to the typed code; only the phone reports a wrong code. */
  answered(query: BinaryNode, finish: BinaryNode, device: () => number): void {
    this.link.send(createResult(query));
    try {
      const secret = this.#typed?.secret(finish);
      if (secret === undefined) throw new Error('This client does not show a code to type');
      this.#vouchFor(device(), secret);
      this.#typing?.resolve();
    } catch (error) {
      this.#typing?.reject(error);
    }
  }

  /** The connection has closed, so no further response can arrive. */
  closed(): void {
    this.#typing?.reject(new Error('The client disconnected'));
  }

  #vouchFor(device: number, secret: Buffer): void {
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
      buildNode('iq', { from: S_WHATSAPP_NET, type: 'set', id: query, xmlns: 'md' }, [
        buildNode('pair-success', {}, [
          buildNode('device-identity', {}, this.#vouch(details, secret)),
          buildNode('device', { jid: companion.pn, lid: companion.lid }),
          buildNode('platform', { name: 'android' }),
        ]),
      ]),
    );
  }

  /**
   * Reads the client's response to the scan and returns the companion, if it is a companion
   * response.
   * @throws Error when the signature does not match the identity
   */
  finish(answer: BinaryNode): Companion | undefined {
    const scanned = this.#scanned;
    if (scanned === undefined || answer.attrs.id !== scanned.query) return undefined;
    const signed = proto.ADVSignedDeviceIdentity.decode(
      readBytes(findChild(findChild(answer, 'pair-device-sign'), 'device-identity')),
    );
    const { signedIdentityKey } = this.#account.me.phone.creds;
    const message = Buffer.concat([
      WA_ADV_DEVICE_SIG_PREFIX,
      scanned.details,
      this.#identity,
      signedIdentityKey.public,
    ]);
    const signature = Buffer.from(signed.deviceSignature ?? []);
    if (!verifySignature(addTypeByte(this.#identity), message, signature)) {
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

const PRE_KEYS = 30;

/** Stored credentials of a client that was linked earlier. */
export interface LinkedCredentials {
  readonly creds: AuthenticationCreds;
  readonly keys: SignalDataSet;
}

/**
 * Creates a linked client without scanning a code, for tests of other features; the client has
 * already received its history and published keys.
 */
export function createLinkedCredentials(
  account: SimulatedAccount,
  device: number,
): { readonly companion: Companion; readonly credentials: LinkedCredentials } {
  const creds = initAuthCreds();
  const { me } = account;
  const companion = new Companion(me, device, creds.noiseKey.public);
  companion.isNew = false;
  const preKeys: Record<string, KeyPair> = {};
  for (let id = 1; id <= PRE_KEYS; id += 1) preKeys[id] = Curve.generateKeyPair();
  const { signedPreKey, signedIdentityKey, registrationId } = creds;
  companion.publish(
    {
      registrationId,
      identity: signedIdentityKey.public,
      signed: {
        id: signedPreKey.keyId,
        key: signedPreKey.keyPair.public,
        signature: signedPreKey.signature,
      },
    },
    Object.entries(preKeys).map(([id, pair]) => ({ id: Number(id), key: pair.public })),
  );
  const linked: AuthenticationCreds = {
    ...creds,
    me: { id: companion.pn, lid: companion.lid, name: me.name },
    account: signIdentity(account, creds, device),
    platform: 'android',
    accountSyncCounter: 1,
    nextPreKeyId: PRE_KEYS + 1,
    firstUnuploadedPreKeyId: PRE_KEYS + 1,
  };
  return { companion, credentials: { creds: linked, keys: { 'pre-key': preKeys } } };
}

function signIdentity(
  { me, clock }: SimulatedAccount,
  { signedIdentityKey: mine }: AuthenticationCreds,
  device: number,
): proto.IADVSignedDeviceIdentity {
  const phone = me.phone.creds.signedIdentityKey;
  const timestamp = Math.floor(clock() / 1000);
  const details = proto.ADVDeviceIdentity.encode({
    rawId: device,
    timestamp,
    keyIndex: device,
  }).finish();
  const vouched = Buffer.concat([WA_ADV_ACCOUNT_SIG_PREFIX, details, mine.public]);
  const own = Buffer.concat([WA_ADV_DEVICE_SIG_PREFIX, details, mine.public, phone.public]);
  return {
    details,
    accountSignatureKey: phone.public,
    accountSignature: Curve.sign(phone.private, vouched),
    deviceSignature: Curve.sign(mine.private, own),
  };
}
