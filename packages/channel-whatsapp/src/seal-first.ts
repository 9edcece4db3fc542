import { AsyncLocalStorage } from 'node:async_hooks';
import type { SignalKeyStoreWithTransaction, SocketConfig } from '@whiskeysockets/baileys';

/** Baileys' way of sealing and opening messages. */
export type Repository = ReturnType<SocketConfig['makeSignalRepository']>;

/**
 * What seals a message is stored before the message leaves, and is changed by one at a time. Baileys
 * seals within one transaction for the whole sending, which ends when the message has left: a crash
 * before that end forgets a session that the other phone uses from then on, and a message of that
 * person that is opened meanwhile is forgotten by whoever writes last. After either, nothing more
 * from that person can be opened. Here each sealing is a transaction of its own, on the lock under
 * which messages of the person or group are opened.
 */
export function sealFirst(repository: Repository, keys: SignalKeyStoreWithTransaction): Repository {
  const outside = AsyncLocalStorage.snapshot();
  const alone = <T>(lock: string, work: () => Promise<T>): Promise<T> =>
    outside(() => keys.transaction(work, lock));
  return {
    ...repository,
    encryptMessage: (plain) =>
      alone(lockOf(repository, plain.jid), () => repository.encryptMessage(plain)),
    injectE2ESession: (bundle) =>
      alone(lockOf(repository, bundle.jid), () => repository.injectE2ESession(bundle)),
    encryptGroupMessage: (plain) => alone(plain.group, () => repository.encryptGroupMessage(plain)),
  };
}

/** The session of a person’s device, whichever way its address is written. */
export function lockOf(repository: Repository, jid: string): string {
  return repository.jidToSignalProtocolAddress(jid);
}
