import { randomBytes } from 'node:crypto';
import {
  aesDecryptCTR,
  aesDecryptGCM,
  aesEncryptCTR,
  type BinaryNode,
  Curve,
  derivePairingCodeKey,
  hkdf,
  type KeyPair,
  S_WHATSAPP_NET,
} from '@whiskeysockets/baileys';
import { getTimeInSeconds, type SimulatedAccount } from './account.ts';
import { buildNode, findChild, readBytes } from './wire.ts';

const TAG = 'link_code_companion_reg';
const SALT = 32;
const IV = 16;
const GCM_IV = 12;
const KEY = 32;
/** The servers accept only names of a browser and a system in this format. */
const DISPLAY =
  /^(Chrome|Edge|Firefox|IE|Opera|Safari) \((Android|Linux|Mac OS|Ubuntu|Windows|iOS)\)$/;

/** The state of the phone after it accepted a typed code. */
interface AcceptedCode {
  readonly companionKey: Uint8Array;
  readonly ephemeral: KeyPair;
}

/**
 * Linking by a typed code: the requests of the client that shows the code, and the phone's
 * responses.
 */
export class TypedCodeLinking {
  readonly #account: SimulatedAccount;
  readonly #noiseKey: Uint8Array;
  readonly #identity: Uint8Array;
  readonly #ref = randomBytes(16);
  readonly #wrapped: Buffer;
  #taken: AcceptedCode | undefined;

  constructor(
    account: SimulatedAccount,
    noiseKey: Uint8Array,
    identity: Uint8Array,
    hello: BinaryNode,
  ) {
    this.#account = account;
    this.#noiseKey = noiseKey;
    this.#identity = identity;
    this.#wrapped = readBytes(
      findChild(hello, 'link_code_pairing_wrapped_companion_ephemeral_pub'),
    );
  }

  /** Returns the reason why the servers refuse a client; undefined when they accept it. */
  refusal(hello: BinaryNode): string | undefined {
    if (!/^\d{7,15}@s\.whatsapp\.net$/.test(hello.attrs.jid ?? '')) return 'bad-request';
    if (!DISPLAY.test(readBytes(findChild(hello, 'companion_platform_display')).toString()))
      return 'bad-request';
    const key = readBytes(findChild(hello, 'companion_server_auth_key_pub'));
    if (!key.equals(this.#noiseKey) || this.#wrapped.length !== SALT + IV + KEY)
      return 'bad-request';
    return undefined;
  }

  /** Returns the servers' response to an accepted request. */
  accepted(): BinaryNode {
    return buildNode(TAG, { stage: 'companion_hello' }, [
      buildNode('link_code_pairing_ref', {}, this.#ref),
    ]);
  }

  /**
   * Handles a code typed on the phone and returns the notification for the client. A wrong code is
   * detected only from the client's response.
   */
  async type(code: string): Promise<BinaryNode> {
    const ephemeral = Curve.generateKeyPair();
    const companionKey = await decryptWrappedKey(this.#wrapped, code);
    this.#taken = { companionKey, ephemeral };
    const { signedIdentityKey } = this.#account.me.phone.creds;
    const salt = randomBytes(SALT);
    const iv = randomBytes(IV);
    const sealed = aesEncryptCTR(ephemeral.public, await derivePairingCodeKey(code, salt), iv);
    const attrs = {
      from: S_WHATSAPP_NET,
      type: TAG,
      id: randomBytes(4).toString('hex'),
      t: getTimeInSeconds(this.#account),
    };
    return buildNode('notification', attrs, [
      buildNode(TAG, { stage: 'primary_hello' }, [
        buildNode(
          'link_code_pairing_wrapped_primary_ephemeral_pub',
          {},
          Buffer.concat([salt, iv, sealed]),
        ),
        buildNode('primary_identity_pub', {}, signedIdentityKey.public),
        buildNode('link_code_pairing_ref', {}, this.#ref),
      ]),
    ]);
  }

  /**
   * Returns the secret that the client and the phone share from now on, derived from the client's
   * response.
   * @throws Error for a wrong code, another client's identity, or an unknown reference
   */
  secret(finish: BinaryNode): Buffer {
    const taken = this.#taken;
    if (taken === undefined) throw new Error('The code has not been typed yet');
    if (!readBytes(findChild(finish, 'link_code_pairing_ref')).equals(this.#ref))
      throw new Error('Another reference');
    const shared = Curve.sharedKey(taken.ephemeral.private, taken.companionKey);
    const [identity, mine, random] = parseIdentityBundle(finish, shared);
    const { signedIdentityKey } = this.#account.me.phone.creds;
    const claimed = readBytes(findChild(finish, 'companion_identity_public'));
    if (!identity.equals(this.#identity) || !claimed.equals(this.#identity))
      throw new Error('Another identity');
    if (!mine.equals(signedIdentityKey.public))
      throw new Error('The response is meant for another phone');
    const both = Curve.sharedKey(signedIdentityKey.private, identity);
    return Buffer.from(hkdf(Buffer.concat([shared, both, random]), KEY, { info: 'adv_secret' }));
  }
}

async function decryptWrappedKey(wrapped: Buffer, code: string): Promise<Buffer> {
  const key = await derivePairingCodeKey(code, wrapped.subarray(0, SALT));
  const iv = wrapped.subarray(SALT, SALT + IV);
  return aesDecryptCTR(wrapped.subarray(SALT + IV), key, iv);
}

/** The client's identity, the phone's identity, and a random number, each 32 bytes long. */
function parseIdentityBundle(finish: BinaryNode, shared: Uint8Array): [Buffer, Buffer, Buffer] {
  const wrapped = readBytes(findChild(finish, 'link_code_pairing_wrapped_key_bundle'));
  const key = hkdf(shared, KEY, {
    salt: wrapped.subarray(0, SALT),
    info: 'link_code_pairing_key_bundle_encryption_key',
  });
  const iv = wrapped.subarray(SALT, SALT + GCM_IV);
  try {
    const plain = aesDecryptGCM(wrapped.subarray(SALT + GCM_IV), key, iv, Buffer.alloc(0));
    return [plain.subarray(0, KEY), plain.subarray(KEY, 2 * KEY), plain.subarray(2 * KEY)];
  } catch (error) {
    throw new Error('Wrong code', { cause: error });
  }
}
