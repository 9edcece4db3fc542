import {
  Curve,
  generateSignalPubKey,
  type KeyPair,
  proto,
  WA_CERT_DETAILS,
} from '@whiskeysockets/baileys';

/** The key a server proves itself with, and the chain that vouches for it. */
export interface ServerIdentity {
  /** Public key of the root: what a test puts into `WA_CERT_DETAILS.PUBLIC_KEY`. 32 bytes. */
  readonly rootKey: Buffer<ArrayBuffer>;
  readonly staticKey: KeyPair;
  /** An encoded `CertChain`. */
  readonly chain: Uint8Array;
}

/** Makes a root, an intermediate and a leaf certificate of its own, as WhatsApp's chain is built. */
export function newServerIdentity(): ServerIdentity {
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

/** A public key of 32 bytes with the type byte that Signal puts in front. */
export function withTypeByte(key: Uint8Array): Buffer {
  return Buffer.from(generateSignalPubKey(key));
}
