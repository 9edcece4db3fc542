import { createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';

/** An RSA key of a double, which signs JSON Web Tokens (RS256) and publishes the public key. */
export class SigningKey {
  readonly id: string = crypto.randomUUID();
  readonly #private: KeyObject;
  readonly #public: KeyObject;

  constructor() {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    this.#private = privateKey;
    this.#public = publicKey;
  }

  get publicPem(): string {
    return this.#public.export({ type: 'spki', format: 'pem' }).toString();
  }

  get privatePem(): string {
    return this.#private.export({ type: 'pkcs8', format: 'pem' }).toString();
  }

  /** The public key as one entry of a JSON Web Key Set. */
  get jwk(): object {
    const key = this.#public.export({ format: 'jwk' });
    return { ...key, kid: this.id, use: 'sig', alg: 'RS256' };
  }

  /** Signs a token that is valid for an hour. */
  sign(claims: Readonly<Record<string, unknown>>): string {
    const seconds = Math.floor(Date.now() / 1_000);
    const times = { iat: seconds, nbf: seconds, exp: seconds + 3_600 };
    const head = encodePart({ alg: 'RS256', typ: 'JWT', kid: this.id });
    const body = encodePart({ ...times, ...claims });
    const signature = createSign('RSA-SHA256').update(`${head}.${body}`).sign(this.#private);
    return `${head}.${body}.${signature.toString('base64url')}`;
  }
}

function encodePart(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
