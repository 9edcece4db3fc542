import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** A self-signed certificate for `127.0.0.1` and its key, both in PEM. */
export interface SelfSignedCertificate {
  readonly certificate: string;
  readonly privateKey: string;
}

const DAY_MS = 86_400_000;
const ECDSA_WITH_SHA256 = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
const COMMON_NAME = [0x55, 0x04, 0x03];
const SUBJECT_ALTERNATIVE_NAME = [0x55, 0x1d, 0x11];
const BASIC_CONSTRAINTS = [0x55, 0x1d, 0x13];
const LOOPBACK = Buffer.from([127, 0, 0, 1]);

/** DER tags (ITU-T X.690); the last tags are specific to X.509 (RFC 5280). */
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
export function createSelfSignedCertificate(now: number): SelfSignedCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const body = buildCertificateBody(publicKey, now);
  const algorithm = encodeDer(TAG.sequence, encodeDer(TAG.oid, Buffer.from(ECDSA_WITH_SHA256)));
  const signature = encodeDer(TAG.bits, Buffer.from([0]), sign('sha256', body, privateKey));
  const certificate = encodeDer(TAG.sequence, body, algorithm, signature);
  return {
    certificate: formatPem('CERTIFICATE', certificate),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function buildCertificateBody(publicKey: KeyObject, now: number): Buffer {
  const serial = randomBytes(8);
  serial.writeUInt8((serial.readUInt8(0) & 0x7f) | 0x40, 0);
  const common = encodeDer(
    TAG.sequence,
    encodeDer(TAG.oid, Buffer.from(COMMON_NAME)),
    encodeDer(TAG.utf8, Buffer.from('Media double')),
  );
  const name = encodeDer(TAG.sequence, encodeDer(TAG.set, common));
  const isAuthority = encodeDer(TAG.sequence, encodeDer(TAG.boolean, Buffer.from([0xff])));
  const names = encodeDer(TAG.sequence, encodeDer(TAG.ipAddress, LOOPBACK));
  return encodeDer(
    TAG.sequence,
    encodeDer(TAG.version, encodeDer(TAG.integer, Buffer.from([2]))),
    encodeDer(TAG.integer, serial),
    encodeDer(TAG.sequence, encodeDer(TAG.oid, Buffer.from(ECDSA_WITH_SHA256))),
    name,
    encodeDer(TAG.sequence, encodeTime(now - DAY_MS), encodeTime(now + 3650 * DAY_MS)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    encodeDer(
      TAG.extensions,
      encodeDer(
        TAG.sequence,
        encodeExtension(BASIC_CONSTRAINTS, isAuthority),
        encodeExtension(SUBJECT_ALTERNATIVE_NAME, names),
      ),
    ),
  );
}

function encodeExtension(oid: readonly number[], content: Buffer): Buffer {
  return encodeDer(
    TAG.sequence,
    encodeDer(TAG.oid, Buffer.from(oid)),
    encodeDer(TAG.octets, content),
  );
}

function encodeTime(at: number): Buffer {
  const digits = new Date(at).toISOString().replace(/[-:T]|\.\d+/g, '');
  return encodeDer(TAG.generalizedTime, Buffer.from(digits));
}

function encodeDer(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, ...encodeLength(content.length)]), content]);
}

function encodeLength(length: number): number[] {
  if (length < 0x80) return [length];
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
}

function formatPem(label: string, content: Buffer): string {
  const lines = content.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
