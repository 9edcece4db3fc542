import type { AdapterValue, AdapterValues } from '@parley/contracts';
import {
  type AuthenticationCreds,
  BufferJSON,
  initAuthCreds,
  type SignalDataSet,
  type SignalDataTypeMap,
  type SignalKeyStore,
} from '@whiskeysockets/baileys';
import { CREDENTIALS_SHAPE, KEY_SHAPES } from './key-shapes.ts';
import { WhatsAppError } from './whatsapp-error.ts';

const CREDENTIALS = 'credentials';

/**
 * The credentials of an account, new ones where there are none. What is there and cannot be read is
 * never replaced: a new identity would unlink the account and lose what people wrote to the old one.
 * @throws WhatsAppError
 */
export async function loadCredentials(values: AdapterValues): Promise<AuthenticationCreds> {
  const stored = (await values.get(CREDENTIALS, [CREDENTIALS])).get(CREDENTIALS);
  if (stored === undefined) return initAuthCreds();
  const value: unknown = decode(stored, CREDENTIALS);
  if (!isCredentials(value)) throw damaged(CREDENTIALS);
  return value;
}

/**
 * The same values; the first that cannot be read or written ends the connection. Baileys confirms what
 * it could not process for want of a key, with an error, and WhatsApp drops what was confirmed: a
 * message of which the database knows nothing, or a phone's request to send an answer again.
 */
export function endingOnFailure(
  values: AdapterValues,
  breakOff: (reason: unknown) => void,
): AdapterValues {
  const guarded = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (thrown) {
      breakOff(thrown);
      throw thrown;
    }
  };
  return {
    get: (kind, ids) => guarded(values.get(kind, ids)),
    set: (changes) => guarded(values.set(changes)),
    clear: () => values.clear(),
  };
}

/** Writes the credentials as they are now. */
export async function saveCredentials(
  values: AdapterValues,
  creds: AuthenticationCreds,
): Promise<void> {
  await values.set([{ kind: CREDENTIALS, id: CREDENTIALS, value: encode(creds) }]);
}

/**
 * Signal's keys in the core's store, one value each; one call of `set` is written whole or not at
 * all. `onDamage` hears of a key that cannot be read, because Baileys takes such for a missing one.
 */
export function keyStore(
  values: AdapterValues,
  onDamage: (error: WhatsAppError) => void,
): SignalKeyStore {
  const read = <Kind extends keyof SignalDataTypeMap>(kind: Kind, text: string) => {
    try {
      const checked = KEY_SHAPES[kind].safeParse(decode(text, kind));
      if (checked.success) return checked.data;
      throw damaged(kind, checked.error);
    } catch (thrown) {
      if (thrown instanceof WhatsAppError) onDamage(thrown);
      throw thrown;
    }
  };
  return {
    async get<Kind extends keyof SignalDataTypeMap>(kind: Kind, ids: string[]) {
      const found: { [id: string]: SignalDataTypeMap[Kind] } = {};
      for (const [id, text] of await values.get(kind, ids)) found[id] = read(kind, text);
      return found;
    },
    set: (data) => values.set(changesOf(data)),
    clear: () => values.clear(),
  };
}

function changesOf(data: SignalDataSet): AdapterValue[] {
  return Object.entries(data).flatMap(([kind, entries]) =>
    Object.entries(entries).map(([id, value]) => ({
      kind,
      id,
      value: value === null || value === undefined ? null : encode(value),
    })),
  );
}

function encode(value: unknown): string {
  return JSON.stringify(value, BufferJSON.replacer);
}

function decode(text: string, kind: string): unknown {
  try {
    return JSON.parse(text, BufferJSON.reviver);
  } catch (thrown) {
    throw damaged(kind, thrown);
  }
}

function isCredentials(value: unknown): value is AuthenticationCreds {
  return CREDENTIALS_SHAPE.safeParse(value).success;
}

/** The cause tells where, never what: it is a key. */
function damaged(kind: string, cause?: unknown): WhatsAppError {
  return new WhatsAppError(
    'whatsapp-state-damaged',
    `The stored link to WhatsApp is damaged (${kind}). Restore the database from a backup; or give the account another name below channels.whatsapp.accounts, and link it anew.`,
    cause instanceof SyntaxError ? undefined : cause,
  );
}
