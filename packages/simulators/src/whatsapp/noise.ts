import {
  aesDecryptGCM,
  aesEncryptGCM,
  Curve,
  hkdf,
  type KeyPair,
  NOISE_MODE,
  NOISE_WA_HEADER,
  proto,
  sha256,
  WA_CERT_DETAILS,
} from '@whiskeysockets/baileys';

/** The result of a handshake: the client's authenticated key and its hello. */
export interface HandshakeResult {
  /**
   * The Noise key whose possession the client has proved; WhatsApp identifies devices by this key.
   */
  readonly clientKey: Uint8Array;
  readonly payload: proto.ClientPayload;
  readonly fromClient: TransportCipher;
  readonly toClient: TransportCipher;
}

/**
 * The server side of Noise XX: `hello` answers the client's first message, `finish` reads the last
 * one.
 */
export class NoiseResponder {
  readonly #identity: ServerIdentity;
  readonly #cipher = new NoiseCipher();
  readonly #ephemeral = Curve.generateKeyPair();

  constructor(identity: ServerIdentity) {
    this.#identity = identity;
  }

  hello(frame: Uint8Array): Uint8Array {
    const { clientHello } = proto.HandshakeMessage.decode(frame);
    const theirs = requireBytes(clientHello?.ephemeral, 'client hello');
    const { staticKey, chain } = this.#identity;
    this.#cipher.mixHash(NOISE_WA_HEADER);
    this.#cipher.mixHash(theirs);
    this.#cipher.mixHash(this.#ephemeral.public);
    this.#cipher.mixKey(Curve.sharedKey(this.#ephemeral.private, theirs));
    const sealedKey = this.#cipher.encrypt(staticKey.public);
    this.#cipher.mixKey(Curve.sharedKey(staticKey.private, theirs));
    const payload = this.#cipher.encrypt(chain);
    const serverHello = { ephemeral: this.#ephemeral.public, static: sealedKey, payload };
    return proto.HandshakeMessage.encode({ serverHello }).finish();
  }

  finish(frame: Uint8Array): HandshakeResult {
    const { clientFinish } = proto.HandshakeMessage.decode(frame);
    const clientKey = this.#cipher.decrypt(requireBytes(clientFinish?.static, 'client key'));
    this.#cipher.mixKey(Curve.sharedKey(this.#ephemeral.private, clientKey));
    const plain = this.#cipher.decrypt(requireBytes(clientFinish?.payload, 'client payload'));
    return { clientKey, payload: proto.ClientPayload.decode(plain), ...this.#cipher.split() };
  }
}

function requireBytes(bytes: Uint8Array | null | undefined, what: string): Uint8Array {
  if (bytes === null || bytes === undefined) throw new Error(`The handshake has no ${what}`);
  return bytes;
}

/** The key that authenticates a server, and its certificate chain. */
export interface ServerIdentity {
  /**
   * The root certificate's public key, which a test sets as `WA_CERT_DETAILS.PUBLIC_KEY`. The key
   * as 32 bytes.
   */
  readonly rootKey: Buffer<ArrayBuffer>;
  readonly staticKey: KeyPair;
  /** The chain as an encoded `CertChain`. */
  readonly chain: Uint8Array;
}

/** Creates a root, an intermediate and a leaf certificate, structured like WhatsApp's chain. */
export function createServerIdentity(): ServerIdentity {
  const root = Curve.generateKeyPair();
  const intermediate = Curve.generateKeyPair();
  const staticKey = Curve.generateKeyPair();
  const details = proto.CertChain.NoiseCertificate.Details;
  const intermediateDetails = details
    .encode({ serial: 1, issuerSerial: WA_CERT_DETAILS.SERIAL, key: intermediate.public })
    .finish();
  const leafDetails = details
    .encode({ serial: 2, issuerSerial: 1, key: staticKey.public })
    .finish();
  const chain = proto.CertChain.encode({
    intermediate: {
      details: intermediateDetails,
      signature: Curve.sign(root.private, intermediateDetails),
    },
    leaf: { details: leafDetails, signature: Curve.sign(intermediate.private, leafDetails) },
  }).finish();
  return { rootKey: Buffer.from(root.public), staticKey, chain };
}

const NO_DATA = Buffer.alloc(0);

/** The state of a Noise handshake: the transcript hash and the keys derived so far. */
class NoiseCipher {
  #hash: Buffer = Buffer.from(NOISE_MODE);
  #salt: Uint8Array = this.#hash;
  #key: Uint8Array = this.#hash;
  #counter = 0;

  mixHash(data: Uint8Array): void {
    this.#hash = sha256(Buffer.concat([this.#hash, data]));
  }

  mixKey(secret: Uint8Array): void {
    [this.#salt, this.#key] = this.#derive(secret);
    this.#counter = 0;
  }

  encrypt(plain: Uint8Array): Buffer {
    const sealed = aesEncryptGCM(plain, this.#key, encodeNonce(this.#counter), this.#hash);
    this.#counter += 1;
    this.mixHash(sealed);
    return sealed;
  }

  /** @throws Error when the other side has a different handshake state */
  decrypt(sealed: Uint8Array): Buffer {
    const plain = aesDecryptGCM(sealed, this.#key, encodeNonce(this.#counter), this.#hash);
    this.#counter += 1;
    this.mixHash(sealed);
    return plain;
  }

  /** Ends the handshake and returns one key for each direction. */
  split(): { readonly fromClient: TransportCipher; readonly toClient: TransportCipher } {
    const [fromClient, toClient] = this.#derive(NO_DATA);
    return {
      fromClient: new TransportCipher(fromClient),
      toClient: new TransportCipher(toClient),
    };
  }

  #derive(secret: Uint8Array): [Uint8Array, Uint8Array] {
    const keys = hkdf(secret, 64, { salt: this.#salt, info: '' });
    return [keys.subarray(0, 32), keys.subarray(32)];
  }
}

/** The cipher for one direction after the handshake; the nonce increases with every frame. */
export class TransportCipher {
  readonly #key: Uint8Array;
  #counter = 0;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  encrypt(plain: Uint8Array): Buffer {
    const sealed = aesEncryptGCM(plain, this.#key, encodeNonce(this.#counter), NO_DATA);
    this.#counter += 1;
    return sealed;
  }

  decrypt(sealed: Uint8Array): Buffer {
    const plain = aesDecryptGCM(sealed, this.#key, encodeNonce(this.#counter), NO_DATA);
    this.#counter += 1;
    return plain;
  }
}

function encodeNonce(counter: number): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt32BE(counter, 8);
  return bytes;
}
