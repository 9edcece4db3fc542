import { createHash } from 'node:crypto';
import { BoundedMap } from '@parley/contracts';
import type {
  BinaryNode,
  SignalKeyStoreWithTransaction,
  SocketConfig,
} from '@whiskeysockets/baileys';
import { openSparingly } from './open-sparingly.ts';
import { type Repository, SESSIONS, sealFirst } from './seal-first.ts';

type MakeRepository = SocketConfig['makeSignalRepository'];

/** A stanza's attributes: who wrote, where, when, under which id. */
export type Envelope = BinaryNode['attrs'];

/** What is done with opened mail. */
export interface SealedMailDeps {
  /** Resolves once the message is durable or refused for good; rejects when it must come again. */
  readonly take: (
    envelope: Envelope,
    plain: Uint8Array,
    known: Repository['lidMapping'],
  ) => Promise<void>;
  /** A message was opened and could not be kept: no confirmation may leave any more. */
  readonly breakOff: (reason: unknown) => void;
}

/** Opened seals that are remembered, newest last; a message that comes again is among the newest. */
const REMEMBERED = 500;

/**
 * No message is lost between Baileys and the core (D01). Baileys saves the session that opened a
 * message, confirms the message, and only then tells of it, through a buffer that dies with the
 * connection. Here a message is taken while it is being opened, before the session is saved:
 *
 *     open → take (durable) → save session → Baileys confirms
 *
 * Whatever breaks before the save leaves the session as it was, so that the message opens again when
 * it comes again; whatever breaks later finds the message stored. When taking fails the connection
 * is broken off, because Baileys would answer with an error, and WhatsApp drops what was answered.
 *
 * What comes again over a new connection is opened from memory; after a restart Baileys asks the
 * sender for it once more, and the core recognises the duplicate by its id.
 */
export class SealedMail {
  readonly #envelopes = new WeakMap<Uint8Array, Envelope>();
  readonly #opening = new Set<Promise<Uint8Array>>();
  readonly #opened = new BoundedMap<string, Uint8Array>(REMEMBERED);
  readonly #deps: SealedMailDeps;

  constructor(deps: SealedMailDeps) {
    this.#deps = deps;
  }

  /** Notes what is written on a stanza; to be called before Baileys opens its seals. */
  note({ attrs, content }: BinaryNode): void {
    if (!Array.isArray(content)) return;
    for (const { tag, content: seal } of content) {
      if (tag === 'enc' && seal instanceof Uint8Array) this.#envelopes.set(seal, attrs);
    }
  }

  /** Resolves when no message is being opened. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#opening);
  }

  /** Baileys' way of opening messages, and ours round it. */
  wrap(makeRepository: MakeRepository): MakeRepository {
    return (auth, logger, numbersToLids) => {
      const repository = makeRepository(auth, logger, numbersToLids);
      const { keys } = auth;
      if (!hasTransactions(keys)) throw new TypeError('Baileys gives keys without transactions');
      const known = repository.lidMapping;
      return {
        ...sealFirst(repository, keys),
        decryptMessage: (sealed) =>
          this.#track(sealed.ciphertext, { keys, known }, () =>
            openSparingly(repository, keys, sealed),
          ),
        decryptGroupMessage: (sealed) =>
          this.#track(sealed.msg, { keys, known }, () => repository.decryptGroupMessage(sealed)),
      };
    };
  }

  async #track(
    seal: Uint8Array,
    room: Room,
    openIt: () => Promise<Uint8Array>,
  ): Promise<Uint8Array> {
    const opening = this.#open(seal, room, openIt);
    this.#opening.add(opening);
    return opening.finally(() => this.#opening.delete(opening));
  }

  async #open(
    seal: Uint8Array,
    { keys, known }: Room,
    openIt: () => Promise<Uint8Array>,
  ): Promise<Uint8Array> {
    const name = createHash('sha256').update(seal).digest('base64');
    const before = this.#opened.get(name);
    if (before !== undefined) return before;
    let isOpen = false;
    try {
      // Baileys' own transaction joins this one, so the session is saved when this one ends.
      const plain = await keys.transaction(async () => {
        const opened = await openIt();
        isOpen = true;
        const envelope = this.#envelopes.get(seal);
        if (envelope !== undefined) await this.#deps.take(envelope, opened, known);
        return opened;
      }, SESSIONS);
      this.#opened.set(name, plain);
      return plain;
    } catch (thrown) {
      if (isOpen) this.#deps.breakOff(thrown);
      throw thrown;
    }
  }
}

/** Where the keys are, and who is who. */
interface Room {
  readonly keys: SignalKeyStoreWithTransaction;
  readonly known: Repository['lidMapping'];
}

function hasTransactions(
  keys: Parameters<MakeRepository>[0]['keys'],
): keys is SignalKeyStoreWithTransaction {
  return 'transaction' in keys;
}
