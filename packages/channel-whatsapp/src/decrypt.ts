import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { BoundedMap } from '@parley/core';
import type {
  BinaryNode,
  SignalKeyStoreWithTransaction,
  SocketConfig,
} from '@whiskeysockets/baileys';
import { z } from 'zod';
import { KEY_SHAPES } from './credentials.ts';

type SignalRepositoryFactory = SocketConfig['makeSignalRepository'];

/** The attributes of a stanza, such as sender, chat, time and id. */
export type MessageEnvelope = BinaryNode['attrs'];

interface DecryptDeps {
  /**
   * Resolves once the message is durable or has been refused permanently; rejects if it must be
   * delivered again.
   */
  readonly admit: (
    envelope: MessageEnvelope,
    plain: Uint8Array,
    known: SignalRepository['lidMapping'],
  ) => Promise<void>;
  /**
   * Called with the envelope of a message that could not be decrypted; Baileys asks the sender to
   * send it again.
   */
  readonly unreadable: (envelope: MessageEnvelope, known: SignalRepository['lidMapping']) => void;
  /**
   * Called when a decrypted message could not be stored, so that no further acknowledgment is sent.
   */
  readonly breakOff: (reason: unknown) => void;
}

/** The number of decrypted messages kept in memory. A redelivered message is among the latest. */
const REMEMBERED = 500;

/**
 * Keeps messages from being lost between Baileys and the core (D01). Baileys saves the session that
 * decrypted a message, confirms the message, and only then emits it through a buffer that is lost
 * with the connection. Here, a message is admitted during decryption, before the session is saved.
 *
 *     decrypt → admit (durable) → save session → Baileys confirms
 *
 * If there is a failure before the session is saved, the session is unchanged, so the message can
 * be decrypted when it is delivered again. After a later failure, the message is already stored. If
 * a message cannot be admitted, the connection ends. Otherwise, Baileys would answer with an error,
 * and WhatsApp drops what was answered.
 *
 * A message that is delivered again over a new connection is decrypted from memory. After a
 * restart, Baileys asks the sender for the message again, and the core recognizes the duplicate by
 * its id.
 */
export class EncryptedMessages {
  readonly #envelopes = new WeakMap<Uint8Array, MessageEnvelope>();
  readonly #inProgress = new Set<Promise<Uint8Array>>();
  readonly #decrypted = new BoundedMap<string, Uint8Array>(REMEMBERED);
  readonly #deps: DecryptDeps;

  constructor(deps: DecryptDeps) {
    this.#deps = deps;
  }

  /**
   * Records the attributes of a stanza. They must be recorded before Baileys decrypts the contents.
   */
  note({ attrs, content }: BinaryNode): void {
    if (!Array.isArray(content)) return;
    for (const { tag, content: encrypted } of content) {
      if (tag === 'enc' && encrypted instanceof Uint8Array) this.#envelopes.set(encrypted, attrs);
    }
  }

  /** Resolves when no message is being decrypted. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#inProgress);
  }

  /** Wraps Baileys' decryption, so that messages are admitted inside its transaction. */
  wrap(makeRepository: SignalRepositoryFactory): SignalRepositoryFactory {
    return (auth, logger, numbersToLids) => {
      const repository = makeRepository(auth, logger, numbersToLids);
      const { keys } = auth;
      if (!hasTransactions(keys)) throw new TypeError('Baileys provides keys without transactions');
      const known = repository.lidMapping;
      return {
        ...storeSessionFirst(repository, keys),
        decryptMessage: (message) =>
          this.#track(message.ciphertext, { keys, known }, () =>
            decryptInSession(repository, keys, message),
          ),
        decryptGroupMessage: (message) =>
          this.#track(message.msg, { keys, known }, () => repository.decryptGroupMessage(message)),
      };
    };
  }

  async #track(
    encrypted: Uint8Array,
    stores: SignalKeys,
    decryptIt: () => Promise<Uint8Array>,
  ): Promise<Uint8Array> {
    const decrypting = this.#decrypt(encrypted, stores, decryptIt);
    this.#inProgress.add(decrypting);
    return decrypting.finally(() => this.#inProgress.delete(decrypting));
  }

  async #decrypt(
    encrypted: Uint8Array,
    { keys, known }: SignalKeys,
    decryptIt: () => Promise<Uint8Array>,
  ): Promise<Uint8Array> {
    const name = createHash('sha256').update(encrypted).digest('base64');
    const before = this.#decrypted.get(name);
    if (before !== undefined) return before;
    let isDecrypted = false;
    try {
      // Baileys' own transaction is nested in this one, so the session is saved when this one
      // completes.
      const plain = await keys.transaction(async () => {
        const decrypted = await decryptIt();
        isDecrypted = true;
        const envelope = this.#envelopes.get(encrypted);
        if (envelope !== undefined) await this.#deps.admit(envelope, decrypted, known);
        return decrypted;
      }, SESSIONS);
      this.#decrypted.set(name, plain);
      return plain;
    } catch (thrown) {
      const envelope = this.#envelopes.get(encrypted);
      if (isDecrypted) this.#deps.breakOff(thrown);
      else if (envelope !== undefined) this.#deps.unreadable(envelope, known);
      throw thrown;
    }
  }
}

interface SignalKeys {
  readonly keys: SignalKeyStoreWithTransaction;
  readonly known: SignalRepository['lidMapping'];
}

function hasTransactions(
  keys: Parameters<SignalRepositoryFactory>[0]['keys'],
): keys is SignalKeyStoreWithTransaction {
  return 'transaction' in keys;
}

/**
 * The sessions with one device, as libsignal writes them; `used` is when each session last
 * decrypted a message, in ms.
 */
const SignalSessions = z.looseObject({
  _sessions: z.record(
    z.string(),
    z.looseObject({ indexInfo: z.looseObject({ used: z.number() }) }),
  ),
});
type SignalSessions = z.infer<typeof SignalSessions>;

type EncryptedMessage = Parameters<SignalRepository['decryptMessage']>[0];

/**
 * Decrypts a message and changes only the session with which it was encrypted. libsignal tries one
 * session after the other, and advances each session's keys before it knows whether they match.
 * After an offline message from an older session, the newest session would then encrypt messages
 * that no phone can decrypt. Must be called within a transaction.
 */
async function decryptInSession(
  repository: SignalRepository,
  keys: SignalKeyStoreWithTransaction,
  message: EncryptedMessage,
): Promise<Uint8Array> {
  // Messages of other types identify their session.
  if (message.type !== 'msg') return repository.decryptMessage(message);
  const lid = await repository.lidMapping.getLIDForPN(message.jid);
  const address = repository.jidToSignalProtocolAddress(lid ?? message.jid);
  const sessions = async () =>
    SignalSessions.safeParse((await keys.get('session', [address]))[address]);
  const before = await sessions();
  const plain = await repository.decryptMessage(message);
  const after = await sessions();
  if (before.success && after.success) {
    const record = KEY_SHAPES.session.parse(carryOverUnusedSessions(before.data, after.data));
    await keys.set({ session: { [address]: record } });
  }
  return plain;
}

/** Leaves unused sessions unchanged. */
export function carryOverUnusedSessions(
  before: SignalSessions,
  after: SignalSessions,
): SignalSessions {
  const sessions = Object.entries(after._sessions).map(([name, session]) => {
    const old = before._sessions[name];
    return [name, old?.indexInfo.used === session.indexInfo.used ? old : session];
  });
  return { ...after, _sessions: Object.fromEntries(sessions) };
}

type SignalRepository = ReturnType<SocketConfig['makeSignalRepository']>;

/** A single lock for all sessions, because one person may have sessions under two addresses. */
const SESSIONS = 'sessions';

/**
 * Stores a session before the message that it encrypted is sent, and changes sessions one at a
 * time. Baileys encrypts in a transaction that is completed only when the message is sent. If the
 * process crashes before that, it loses a session that the other phone uses from then on. If there
 * are two writers, the later one overwrites the session of a message that was decrypted in the
 * meantime. In both cases, no further message from that person can be decrypted. Here, each
 * encryption has its own transaction, under the same lock as decryption.
 */
function storeSessionFirst(
  repository: SignalRepository,
  keys: SignalKeyStoreWithTransaction,
): SignalRepository {
  const outside = AsyncLocalStorage.snapshot();
  const exclusively = <T>(work: () => Promise<T>): Promise<T> =>
    outside(() => keys.transaction(work, SESSIONS));
  return {
    ...repository,
    encryptMessage: (plain) => exclusively(() => repository.encryptMessage(plain)),
    injectE2ESession: (bundle) => exclusively(() => repository.injectE2ESession(bundle)),
    migrateSession: (from, to) => exclusively(() => repository.migrateSession(from, to)),
    encryptGroupMessage: (plain) => exclusively(() => repository.encryptGroupMessage(plain)),
  };
}
