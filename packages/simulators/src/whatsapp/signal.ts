import {
  addTransactionCapability,
  type BinaryNode,
  Curve,
  DEFAULT_CONNECTION_CONFIG,
  encodeWAMessage,
  generateRegistrationId,
  generateSignalPubKey,
  KEY_BUNDLE_TYPE,
  proto,
  type SignalCreds,
  type SignalRepositoryWithLIDStore,
  signedKeyPair,
  unpadRandomMax16,
  writeRandomPadMax16,
} from '@whiskeysockets/baileys';
import { MemoryKeyStore } from './memory-key-store.ts';
import { createSilentLogger } from './quiet.ts';
import { buildNode, findChild, listChildren, readBytes, toBigEndian } from './wire.ts';

/** A message encrypted for one device. */
interface EncryptedMessage {
  readonly type: 'pkmsg' | 'msg';
  readonly ciphertext: Uint8Array;
}

/** The actual structure of libsignal's record of a device, which Baileys' types do not describe. */
interface SessionRecord {
  readonly _sessions: Record<string, { readonly indexInfo: { readonly used: number } }>;
}

function isRecord(value: unknown): value is SessionRecord {
  return typeof value === 'object' && value !== null && '_sessions' in value;
}

/** A device with Signal sessions: a person's phone, or the phone of the bot's account. */
export class SignalParty {
  readonly creds: SignalCreds;
  readonly #keys = new MemoryKeyStore();
  readonly #repository: SignalRepositoryWithLIDStore;
  #lastPreKey = 0;

  /** @param creds the credentials of another device whose keys are shared */
  constructor(creds = createCreds()) {
    this.creds = creds;
    const logger = createSilentLogger();
    const { transactionOpts, makeSignalRepository } = DEFAULT_CONNECTION_CONFIG;
    const keys = addTransactionCapability(this.#keys, logger, transactionOpts);
    this.#repository = makeSignalRepository({ creds: this.creds, keys }, logger);
  }

  /**
   * Returns the keys with which others start a session with this device, including a fresh one-time
   * key.
   */
  bundle(): KeyBundle {
    this.#lastPreKey += 1;
    const oneTime = Curve.generateKeyPair();
    this.#keys.set({ 'pre-key': { [this.#lastPreKey]: oneTime } });
    const { registrationId, signedIdentityKey, signedPreKey } = this.creds;
    return {
      registrationId,
      identity: signedIdentityKey.public,
      signed: {
        id: signedPreKey.keyId,
        key: signedPreKey.keyPair.public,
        signature: signedPreKey.signature,
      },
      oneTime: { id: this.#lastPreKey, key: oneTime.public },
    };
  }

  async knows(jid: string): Promise<boolean> {
    return (await this.#repository.validateSession(jid)).exists;
  }

  /** Starts a session and replaces the previous one. */
  async begin(
    jid: string,
    { registrationId, identity, signed, oneTime }: KeyBundle,
  ): Promise<void> {
    const session = {
      registrationId,
      identityKey: addTypeByte(identity),
      signedPreKey: {
        keyId: signed.id,
        publicKey: addTypeByte(signed.key),
        signature: signed.signature,
      },
      ...(oneTime === undefined
        ? {}
        : { preKey: { keyId: oneTime.id, publicKey: addTypeByte(oneTime.key) } }),
    };
    await this.#repository.injectE2ESession({ jid, session });
  }

  seal(jid: string, message: proto.IMessage | Uint8Array): Promise<EncryptedMessage> {
    return this.#repository.encryptMessage({ jid, data: padMessage(message) });
  }

  /** @throws Error when there is no session, or the message was encrypted for another session */
  async open(jid: string, type: string, ciphertext: Uint8Array): Promise<proto.IMessage> {
    if (type !== 'pkmsg' && type !== 'msg') throw new Error(`Not a sealed message: ${type}`);
    const padded = await this.#openSparingly(jid, type, ciphertext);
    const message = proto.Message.decode(unpadRandomMax16(padded));
    const item = message.senderKeyDistributionMessage;
    if (item != null) {
      await this.#repository.processSenderKeyDistributionMessage({ authorJid: jid, item });
    }
    return message;
  }

  /** Encrypts a message for a group; `key` is the sender key message that members need once. */
  async sealForGroup(
    group: string,
    me: string,
    message: proto.IMessage | Uint8Array,
  ): Promise<{ readonly ciphertext: Uint8Array; readonly key: proto.IMessage }> {
    const data = padMessage(message);
    const sealed = await this.#repository.encryptGroupMessage({ group, meId: me, data });
    const axolotlSenderKeyDistributionMessage = sealed.senderKeyDistributionMessage;
    return {
      ciphertext: sealed.ciphertext,
      key: {
        senderKeyDistributionMessage: { groupId: group, axolotlSenderKeyDistributionMessage },
      },
    };
  }

  /** @throws Error when the author's sender key is missing */
  async openFromGroup(
    group: string,
    author: string,
    ciphertext: Uint8Array,
  ): Promise<proto.IMessage> {
    const msg = await this.#repository.decryptGroupMessage({
      group,
      authorJid: author,
      msg: ciphertext,
    });
    return proto.Message.decode(unpadRandomMax16(msg));
  }

  /** Whether the author's sender key is known. */
  hasGroupKey(group: string, author: string): boolean {
    const [user, device] = this.#repository.jidToSignalProtocolAddress(author).split('.');
    const name = `${group}::${user}::${device}`;
    return this.#keys.get('sender-key', [name])[name] !== undefined;
  }

  /**
   * libsignal for JavaScript corrupts a session when decryption fails. The library in real phones
   * does not corrupt sessions, so the original session is restored.
   */
  async #openSparingly(
    jid: string,
    type: 'pkmsg' | 'msg',
    ciphertext: Uint8Array,
  ): Promise<Uint8Array> {
    const address = this.#repository.jidToSignalProtocolAddress(jid);
    const record = (): SessionRecord | undefined => {
      const { [address]: found } = this.#keys.get('session', [address]);
      return isRecord(found) ? found : undefined;
    };
    const before = record()?._sessions;
    const padded = await this.#repository.decryptMessage({ jid, type, ciphertext });
    const after = record()?._sessions;
    if (type === 'pkmsg' || before === undefined || after === undefined) return padded;
    for (const [name, session] of Object.entries(before)) {
      if (after[name]?.indexInfo.used === session.indexInfo.used) after[name] = session;
    }
    return padded;
  }

  /**
   * Deletes all sessions and sender keys, as if the app had been reinstalled on the phone with its
   * old identity.
   */
  forgetSessions(): void {
    this.#keys.forget(['session', 'sender-key']);
  }
}

function createCreds(): SignalCreds {
  const signedIdentityKey = Curve.generateKeyPair();
  return {
    signedIdentityKey,
    signedPreKey: signedKeyPair(signedIdentityKey, 1),
    registrationId: generateRegistrationId(),
  };
}

const KEY_ID_BYTES = 3;
const REGISTRATION_BYTES = 4;

/** A public key (32 bytes) and its id. */
export interface NumberedKey {
  readonly id: number;
  readonly key: Uint8Array;
}

/** The keys with which a Signal session with a device is started. */
export interface KeyBundle {
  readonly registrationId: number;
  /** The key as 32 bytes. */
  readonly identity: Uint8Array;
  readonly signed: NumberedKey & { readonly signature: Uint8Array };
  /** A key for a single session; absent when the device has none left. */
  readonly oneTime?: NumberedKey;
}

/** Returns the children of `<user>` that contain a key bundle. */
export function buildBundleNodes(bundle: KeyBundle): BinaryNode[] {
  return [
    buildNode('registration', {}, toBigEndian(bundle.registrationId, REGISTRATION_BYTES)),
    buildNode('type', {}, KEY_BUNDLE_TYPE),
    buildNode('identity', {}, bundle.identity),
    ...buildSignedBundleNodes(bundle),
  ];
}

/** Returns the nodes of the signed key and the one-time key only. */
export function buildSignedBundleNodes({ signed, oneTime }: KeyBundle): BinaryNode[] {
  const skey = [...buildKeyNodes(signed), buildNode('signature', {}, signed.signature)];
  return [
    buildNode('skey', {}, skey),
    ...(oneTime === undefined ? [] : [buildNode('key', {}, buildKeyNodes(oneTime))]),
  ];
}

/** Reads a key bundle that a client published or included in a retry receipt. */
export function parseKeyBundle(holder: BinaryNode, registration = holder): KeyBundle {
  const skey = findChild(holder, 'skey');
  const oneTime = findChild(holder, 'key');
  return {
    registrationId: readBytes(findChild(registration, 'registration')).readUIntBE(
      0,
      REGISTRATION_BYTES,
    ),
    identity: readBytes(findChild(holder, 'identity')),
    signed: { ...parseNumberedKey(skey), signature: readBytes(findChild(skey, 'signature')) },
    ...(oneTime === undefined ? {} : { oneTime: parseNumberedKey(oneTime) }),
  };
}

/** Reads the one-time keys that a client published. */
export function parseOneTimeKeys(upload: BinaryNode): NumberedKey[] {
  return listChildren(findChild(upload, 'list'), 'key').map(parseNumberedKey);
}

function buildKeyNodes({ id, key }: NumberedKey): BinaryNode[] {
  return [buildNode('id', {}, toBigEndian(id, KEY_ID_BYTES)), buildNode('value', {}, key)];
}

function parseNumberedKey(holder: BinaryNode | undefined): NumberedKey {
  return {
    id: readBytes(findChild(holder, 'id')).readUIntBE(0, KEY_ID_BYTES),
    key: readBytes(findChild(holder, 'value')),
  };
}

/** Returns a 32-byte public key with Signal's type byte in front. */
export function addTypeByte(key: Uint8Array): Buffer {
  return Buffer.from(generateSignalPubKey(key));
}

/** Encodes a message with random padding, which hides its length. */
function padMessage(message: proto.IMessage | Uint8Array): Buffer {
  return message instanceof Uint8Array ? writeRandomPadMax16(message) : encodeWAMessage(message);
}
