import { AsyncLocalStorage } from 'node:async_hooks';
import type { SignalKeyStoreWithTransaction, SocketConfig } from '@whiskeysockets/baileys';

/** Baileys' way of sealing and opening messages. */
export type Repository = ReturnType<SocketConfig['makeSignalRepository']>;

/** The lock for all that reads and writes sessions: one person’s may be found under two addresses. */
export const SESSIONS = 'sessions';

/**
 * What seals a message is stored before the message leaves, and is changed by one at a time. Baileys
 * seals within one transaction for the whole sending, which ends when the message has left: a crash
 * before that end forgets a session that the other phone uses from then on, and a message of that
 * person that is opened meanwhile is forgotten by whoever writes last. After either, nothing more
 * from that person can be opened. Here each sealing is a transaction of its own, on the lock under
 * which messages are opened.
 */
export function sealFirst(repository: Repository, keys: SignalKeyStoreWithTransaction): Repository {
  const outside = AsyncLocalStorage.snapshot();
  const alone = <T>(work: () => Promise<T>): Promise<T> =>
    outside(() => keys.transaction(work, SESSIONS));
  return {
    ...repository,
    encryptMessage: (plain) => alone(() => repository.encryptMessage(plain)),
    injectE2ESession: (bundle) => alone(() => repository.injectE2ESession(bundle)),
    migrateSession: (from, to) => alone(() => repository.migrateSession(from, to)),
    encryptGroupMessage: (plain) => alone(() => repository.encryptGroupMessage(plain)),
  };
}
