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
import { silentLogger } from './quiet.ts';
import { bigEndian, bytes, child, children, node } from './wire.ts';

/** A message sealed for one device. */
interface Sealed {
  readonly type: 'pkmsg' | 'msg';
  readonly ciphertext: Uint8Array;
}

/** The record that libsignal keeps of one device, whatever Baileys' types say. */
interface SessionRecord {
  readonly _sessions: Record<string, { readonly indexInfo: { readonly used: number } }>;
}

function isRecord(value: unknown): value is SessionRecord {
  return typeof value === 'object' && value !== null && '_sessions' in value;
}

/** One device that takes part in Signal: a person's phone, or the phone of the bot's account. */
export class SignalParty {
  readonly creds: SignalCreds;
  readonly #keys = new MemoryKeyStore();
  readonly #repository: SignalRepositoryWithLIDStore;
  #lastPreKey = 0;

  /** @param creds those of another device, whose keys this one has too. */
  constructor(creds = newCreds()) {
    this.creds = creds;
    const logger = silentLogger();
    const { transactionOpts, makeSignalRepository } = DEFAULT_CONNECTION_CONFIG;
    const keys = addTransactionCapability(this.#keys, logger, transactionOpts);
    this.#repository = makeSignalRepository({ creds: this.creds, keys }, logger);
  }

  /** The keys with which others write to this device, with a one-time key of its own. */
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

  /** Begins a session, in place of an older one. */
  async begin(
    jid: string,
    { registrationId, identity, signed, oneTime }: KeyBundle,
  ): Promise<void> {
    const session = {
      registrationId,
      identityKey: withTypeByte(identity),
      signedPreKey: {
        keyId: signed.id,
        publicKey: withTypeByte(signed.key),
        signature: signed.signature,
      },
      ...(oneTime === undefined
        ? {}
        : { preKey: { keyId: oneTime.id, publicKey: withTypeByte(oneTime.key) } }),
    };
    await this.#repository.injectE2ESession({ jid, session });
  }

  seal(jid: string, message: proto.IMessage | Uint8Array): Promise<Sealed> {
    return this.#repository.encryptMessage({ jid, data: paddedBytes(message) });
  }

  /** @throws Error when there is no session, or the message is not for it. */
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

  /** Seals for a group; `key` is what members need once to read it. */
  async sealForGroup(
    group: string,
    me: string,
    message: proto.IMessage | Uint8Array,
  ): Promise<{ readonly ciphertext: Uint8Array; readonly key: proto.IMessage }> {
    const data = paddedBytes(message);
    const sealed = await this.#repository.encryptGroupMessage({ group, meId: me, data });
    const axolotlSenderKeyDistributionMessage = sealed.senderKeyDistributionMessage;
    return {
      ciphertext: sealed.ciphertext,
      key: {
        senderKeyDistributionMessage: { groupId: group, axolotlSenderKeyDistributionMessage },
      },
    };
  }

  /** @throws Error when the author's sender key is not here. */
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

  /** Whether the author's sender key is here. */
  hasGroupKey(group: string, author: string): boolean {
    const [user, device] = this.#repository.jidToSignalProtocolAddress(author).split('.');
    const name = `${group}::${user}::${device}`;
    return this.#keys.get('sender-key', [name])[name] !== undefined;
  }

  /**
   * libsignal for JavaScript spoils each session that it tries in vain. The phones' own library does
   * not, so here those stay as they were.
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

  /** Loses every session and sender key, as a phone that was set up again with its old identity. */
  forgetSessions(): void {
    this.#keys.forget(['session', 'sender-key']);
  }
}

function newCreds(): SignalCreds {
  const signedIdentityKey = Curve.generateKeyPair();
  return {
    signedIdentityKey,
    signedPreKey: signedKeyPair(signedIdentityKey, 1),
    registrationId: generateRegistrationId(),
  };
}

const KEY_ID_BYTES = 3;
const REGISTRATION_BYTES = 4;

/** A public key with its number, 32 bytes. */
export interface NumberedKey {
  readonly id: number;
  readonly key: Uint8Array;
}

/** The keys with which a Signal session with a device begins. */
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

/** A public key of 32 bytes with the type byte that Signal puts in front. */
export function withTypeByte(key: Uint8Array): Buffer {
  return Buffer.from(generateSignalPubKey(key));
}

/** A message as it is before its seal: with some bytes more, so that its length says nothing. */
function paddedBytes(message: proto.IMessage | Uint8Array): Buffer {
  return message instanceof Uint8Array ? writeRandomPadMax16(message) : encodeWAMessage(message);
}
