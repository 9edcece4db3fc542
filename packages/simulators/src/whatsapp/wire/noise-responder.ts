import { Curve, NOISE_WA_HEADER, proto } from '@whiskeysockets/baileys';
import { NoiseCipher, type TransportCipher } from './noise-cipher.ts';
import type { ServerIdentity } from './server-identity.ts';

/** What a client has proved and said at the end of the handshake. */
export interface Login {
  /** The Noise key that the client proved to hold: it is how WhatsApp knows a device again. */
  readonly clientKey: Uint8Array;
  readonly payload: proto.ClientPayload;
  readonly fromClient: TransportCipher;
  readonly toClient: TransportCipher;
}

/** The server's side of Noise XX: `hello` answers the first message, `finish` reads the last. */
export class NoiseResponder {
  readonly #identity: ServerIdentity;
  readonly #cipher = new NoiseCipher();
  readonly #ephemeral = Curve.generateKeyPair();

  constructor(identity: ServerIdentity) {
    this.#identity = identity;
  }

  hello(frame: Uint8Array): Uint8Array {
    const { clientHello } = proto.HandshakeMessage.decode(frame);
    const theirs = present(clientHello?.ephemeral, 'client hello');
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

  finish(frame: Uint8Array): Login {
    const { clientFinish } = proto.HandshakeMessage.decode(frame);
    const clientKey = this.#cipher.decrypt(present(clientFinish?.static, 'client key'));
    this.#cipher.mixKey(Curve.sharedKey(this.#ephemeral.private, clientKey));
    const plain = this.#cipher.decrypt(present(clientFinish?.payload, 'client payload'));
    return { clientKey, payload: proto.ClientPayload.decode(plain), ...this.#cipher.split() };
  }
}

function present(bytes: Uint8Array | null | undefined, what: string): Uint8Array {
  if (bytes === null || bytes === undefined) throw new Error(`The handshake has no ${what}`);
  return bytes;
}
