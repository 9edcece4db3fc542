import { type BinaryNode, KEY_BUNDLE_TYPE } from '@whiskeysockets/baileys';
import { bigEndian, bytes, child, children, node } from '../wire/nodes.ts';

const KEY_ID_BYTES = 3;
const REGISTRATION_BYTES = 4;

/** A public key with its number, 32 bytes. */
export interface NumberedKey {
  readonly id: number;
  readonly key: Uint8Array;
}

/** What one needs to begin a Signal session with a device. */
export interface KeyBundle {
  readonly registrationId: number;
  /** 32 bytes. */
  readonly identity: Uint8Array;
  readonly signed: NumberedKey & { readonly signature: Uint8Array };
  /** Used by one session only; absent when the device has none left. */
  readonly oneTime?: NumberedKey;
}

/** The children of `<user>` that hand out a bundle. */
export function bundleNodes(bundle: KeyBundle): BinaryNode[] {
  return [
    node('registration', {}, bigEndian(bundle.registrationId, REGISTRATION_BYTES)),
    node('type', {}, KEY_BUNDLE_TYPE),
    node('identity', {}, bundle.identity),
    ...signedBundleNodes(bundle),
  ];
}

/** The signed and the one-time key alone. */
export function signedBundleNodes({ signed, oneTime }: KeyBundle): BinaryNode[] {
  const skey = [...keyNodes(signed), node('signature', {}, signed.signature)];
  return [
    node('skey', {}, skey),
    ...(oneTime === undefined ? [] : [node('key', {}, keyNodes(oneTime))]),
  ];
}

/** Reads a bundle that a client published or put into a retry receipt. */
export function readBundle(holder: BinaryNode, registration = holder): KeyBundle {
  const skey = child(holder, 'skey');
  const oneTime = child(holder, 'key');
  return {
    registrationId: bytes(child(registration, 'registration')).readUIntBE(0, REGISTRATION_BYTES),
    identity: bytes(child(holder, 'identity')),
    signed: { ...readKey(skey), signature: bytes(child(skey, 'signature')) },
    ...(oneTime === undefined ? {} : { oneTime: readKey(oneTime) }),
  };
}

/** Reads the one-time keys that a client published. */
export function readOneTimeKeys(upload: BinaryNode): NumberedKey[] {
  return children(child(upload, 'list'), 'key').map(readKey);
}

function keyNodes({ id, key }: NumberedKey): BinaryNode[] {
  return [node('id', {}, bigEndian(id, KEY_ID_BYTES)), node('value', {}, key)];
}

function readKey(holder: BinaryNode | undefined): NumberedKey {
  return {
    id: bytes(child(holder, 'id')).readUIntBE(0, KEY_ID_BYTES),
    key: bytes(child(holder, 'value')),
  };
}
