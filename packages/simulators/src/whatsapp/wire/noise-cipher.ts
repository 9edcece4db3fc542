import { aesDecryptGCM, aesEncryptGCM, hkdf, NOISE_MODE, sha256 } from '@whiskeysockets/baileys';

const NO_DATA = Buffer.alloc(0);

/** The growing state of a Noise handshake: what both sides have seen so far, and the key from it. */
export class NoiseCipher {
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
    const sealed = aesEncryptGCM(plain, this.#key, nonce(this.#counter), this.#hash);
    this.#counter += 1;
    this.mixHash(sealed);
    return sealed;
  }

  /** @throws Error when the other side has another state. */
  decrypt(sealed: Uint8Array): Buffer {
    const plain = aesDecryptGCM(sealed, this.#key, nonce(this.#counter), this.#hash);
    this.#counter += 1;
    this.mixHash(sealed);
    return plain;
  }

  /** Ends the handshake: a key for what the client sends, and one for what it gets. */
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

/** One direction after the handshake: every frame has the next nonce. */
export class TransportCipher {
  readonly #key: Uint8Array;
  #counter = 0;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  encrypt(plain: Uint8Array): Buffer {
    const sealed = aesEncryptGCM(plain, this.#key, nonce(this.#counter), NO_DATA);
    this.#counter += 1;
    return sealed;
  }

  decrypt(sealed: Uint8Array): Buffer {
    const plain = aesDecryptGCM(sealed, this.#key, nonce(this.#counter), NO_DATA);
    this.#counter += 1;
    return plain;
  }
}

function nonce(counter: number): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt32BE(counter, 8);
  return bytes;
}
