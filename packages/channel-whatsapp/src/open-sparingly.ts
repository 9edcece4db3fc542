import type { SignalKeyStoreWithTransaction } from '@whiskeysockets/baileys';
import { z } from 'zod';
import { KEY_SHAPES } from './key-shapes.ts';
import type { Repository } from './seal-first.ts';

/** Sessions with one device, as libsignal writes them; `used` is when one last opened a message, in ms. */
const Sessions = z.looseObject({
  _sessions: z.record(
    z.string(),
    z.looseObject({ indexInfo: z.looseObject({ used: z.number() }) }),
  ),
});
type Sessions = z.infer<typeof Sessions>;

type Sealed = Parameters<Repository['decryptMessage']>[0];

/**
 * Opens a message and changes only the session that it was sealed with. libsignal tries one session
 * after the other and turns the keys of each before it knows whether the seal fits; after mail that
 * waited was sealed with an older session, the newest one would seal what no phone can open. To be
 * called within a transaction.
 */
export async function openSparingly(
  repository: Repository,
  keys: SignalKeyStoreWithTransaction,
  sealed: Sealed,
): Promise<Uint8Array> {
  // Other kinds name their session.
  if (sealed.type !== 'msg') return repository.decryptMessage(sealed);
  const lid = await repository.lidMapping.getLIDForPN(sealed.jid);
  const address = repository.jidToSignalProtocolAddress(lid ?? sealed.jid);
  const sessions = async () => Sessions.safeParse((await keys.get('session', [address]))[address]);
  const before = await sessions();
  const plain = await repository.decryptMessage(sealed);
  const after = await sessions();
  if (before.success && after.success) {
    const record = KEY_SHAPES.session.parse(spared(before.data, after.data));
    await keys.set({ session: { [address]: record } });
  }
  return plain;
}

/** What was not used is as it was. */
export function spared(before: Sessions, after: Sessions): Sessions {
  const sessions = Object.entries(after._sessions).map(([name, session]) => {
    const old = before._sessions[name];
    return [name, old?.indexInfo.used === session.indexInfo.used ? old : session];
  });
  return { ...after, _sessions: Object.fromEntries(sessions) };
}
