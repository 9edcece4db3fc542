import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** A self-signed certificate for `127.0.0.1` and its key, both in PEM. */
export interface SelfSigned {
  readonly certificate: string;
  readonly privateKey: string;
}

const DAY_MS = 86_400_000;
const ECDSA_WITH_SHA256 = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
const COMMON_NAME = [0x55, 0x04, 0x03];
const SUBJECT_ALTERNATIVE_NAME = [0x55, 0x1d, 0x11];
const BASIC_CONSTRAINTS = [0x55, 0x1d, 0x13];
const LOOPBACK = Buffer.from([127, 0, 0, 1]);

/** DER tags (ITU-T X.690); the last ones are specific to X.509 (RFC 5280). */
const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  oid: 0x06,
  utf8: 0x0c,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
  version: 0xa0,
  extensions: 0xa3,
  ipAddress: 0x87,
} as const;

/** Creates a certificate for an HTTPS server on loopback, valid for ten years from yesterday. */
export function selfSignedCertificate(now: number): SelfSigned {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const body = certificateBody(publicKey, now);
  const algorithm = der(TAG.sequence, der(TAG.oid, Buffer.from(ECDSA_WITH_SHA256)));
  const signature = der(TAG.bits, Buffer.from([0]), sign('sha256', body, privateKey));
  const certificate = der(TAG.sequence, body, algorithm, signature);
  return {
    certificate: pem('CERTIFICATE', certificate),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function certificateBody(publicKey: KeyObject, now: number): Buffer {
  const serial = randomBytes(8);
  serial.writeUInt8((serial.readUInt8(0) & 0x7f) | 0x40, 0);
  const common = der(
    TAG.sequence,
    der(TAG.oid, Buffer.from(COMMON_NAME)),
    der(TAG.utf8, Buffer.from('Media double')),
  );
  const name = der(TAG.sequence, der(TAG.set, common));
  const isAuthority = der(TAG.sequence, der(TAG.boolean, Buffer.from([0xff])));
  const names = der(TAG.sequence, der(TAG.ipAddress, LOOPBACK));
  return der(
    TAG.sequence,
    der(TAG.version, der(TAG.integer, Buffer.from([2]))),
    der(TAG.integer, serial),
    der(TAG.sequence, der(TAG.oid, Buffer.from(ECDSA_WITH_SHA256))),
    name,
    der(TAG.sequence, time(now - DAY_MS), time(now + 3650 * DAY_MS)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      TAG.extensions,
      der(
        TAG.sequence,
        extension(BASIC_CONSTRAINTS, isAuthority),
        extension(SUBJECT_ALTERNATIVE_NAME, names),
      ),
    ),
  );
}

function extension(oid: readonly number[], content: Buffer): Buffer {
  return der(TAG.sequence, der(TAG.oid, Buffer.from(oid)), der(TAG.octets, content));
}

function time(at: number): Buffer {
  const digits = new Date(at).toISOString().replace(/[-:T]|\.\d+/g, '');
  return der(TAG.generalizedTime, Buffer.from(digits));
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content.length)]), content]);
}

function lengthOf(length: number): number[] {
  if (length < 0x80) return [length];
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
}

function pem(label: string, content: Buffer): string {
  const lines = content.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
