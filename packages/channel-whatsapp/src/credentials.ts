import type { ChannelProbe, ProbeEnv } from '@parley/channels/probe';
import { type AdapterValue, type AdapterValues, reasonOf } from '@parley/core';
import {
  type AuthenticationCreds,
  BufferJSON,
  initAuthCreds,
  proto,
  type SignalDataSet,
  type SignalDataTypeMap,
  type SignalKeyStore,
} from '@whiskeysockets/baileys';
import { z } from 'zod';
import { FIX, WhatsAppError } from './failures.ts';

const CREDENTIALS = 'credentials';

/**
 * Loads the credentials of an account, or creates new ones if there are none. Unreadable
 * credentials are never replaced: a new identity would unlink the account and lose the messages
 * sent to the old one.
 * @throws WhatsAppError
 */
export async function loadCredentials(values: AdapterValues): Promise<AuthenticationCreds> {
  const stored = (await values.get(CREDENTIALS, [CREDENTIALS])).get(CREDENTIALS);
  if (stored === undefined) return initAuthCreds();
  const value: unknown = decodeCredential(stored, CREDENTIALS);
  if (!isCredentials(value)) throw createDamagedStateError(CREDENTIALS);
  return value;
}

/**
 * Wraps stored values so that the first failed read or write closes the connection. Without a key,
 * Baileys acknowledges a stanza with an error, and WhatsApp drops everything that was acknowledged.
 * Such a stanza could be a message that is not in the database yet, or a phone's request to send an
 * answer again.
 */
export function closeOnFailure(
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

export async function saveCredentials(
  values: AdapterValues,
  creds: AuthenticationCreds,
): Promise<void> {
  await values.set([{ kind: CREDENTIALS, id: CREDENTIALS, value: encodeValue(creds) }]);
}

/**
 * Stores Signal's keys, each as a separate value; `set` writes either all of them or none.
 * `onDamage` is called with a key that cannot be parsed, because Baileys treats it as missing.
 */
export function createKeyStore(
  values: AdapterValues,
  onDamage: (error: WhatsAppError) => void,
): SignalKeyStore {
  const read = <Kind extends keyof SignalDataTypeMap>(kind: Kind, text: string) => {
    try {
      const checked = KEY_SHAPES[kind].safeParse(decodeCredential(text, kind));
      if (checked.success) return checked.data;
      throw createDamagedStateError(kind, checked.error);
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
    set: (data) => values.set(toAdapterValues(data)),
    clear: () => values.clear(),
  };
}

function toAdapterValues(data: SignalDataSet): AdapterValue[] {
  return Object.entries(data).flatMap(([kind, entries]) =>
    Object.entries(entries).map(([id, value]) => ({
      kind,
      id,
      value: value === null || value === undefined ? null : encodeValue(value),
    })),
  );
}

function encodeValue(value: unknown): string {
  return JSON.stringify(value, BufferJSON.replacer);
}

function decodeCredential(text: string, kind: string): unknown {
  try {
    return JSON.parse(text, BufferJSON.reviver);
  } catch (thrown) {
    throw createDamagedStateError(kind, thrown);
  }
}

function isCredentials(value: unknown): value is AuthenticationCreds {
  return CREDENTIALS_SHAPE.safeParse(value).success;
}

/** The cause says where the damage is, but never contains the value, which is a key. */
function createDamagedStateError(kind: string, cause?: unknown): WhatsAppError {
  return new WhatsAppError(
    'whatsapp-state-damaged',
    `The stored link to WhatsApp is damaged (${kind}). Restore the database from a backup, or give the account another name under channels.whatsapp.accounts and link it again.`,
    cause instanceof SyntaxError ? undefined : cause,
  );
}

const Bytes = z.instanceof(Uint8Array);
const KeyPair = z.object({ public: Bytes, private: Bytes });

/** A session as libsignal writes it. It is an object, contrary to Baileys' types. */
const Session = z.looseObject({ _sessions: z.record(z.string(), z.unknown()) });

/** The schema for every kind of key that Baileys keeps. */
export const KEY_SHAPES: {
  readonly [Kind in keyof SignalDataTypeMap]: z.ZodType<SignalDataTypeMap[Kind]>;
} = {
  'pre-key': KeyPair,
  session: z.custom<Uint8Array>((value) => Session.safeParse(value).success),
  'sender-key': Bytes,
  'sender-key-memory': z.record(z.string(), z.boolean()),
  'app-state-sync-key': z
    .record(z.string(), z.unknown())
    .transform((value) => proto.Message.AppStateSyncKeyData.fromObject(value)),
  'app-state-sync-version': z.object({
    version: z.number(),
    hash: z.instanceof(Buffer),
    indexValueMap: z.record(z.string(), z.object({ valueMac: Bytes })),
  }),
  'lid-mapping': z.string(),
  'device-list': z.array(z.string()),
  tctoken: z.object({
    token: z.instanceof(Buffer),
    timestamp: z.string().exactOptional(),
    senderTimestamp: z.number().exactOptional(),
  }),
  'identity-key': Bytes,
};

/** The required fields in credentials; Baileys stores more. */
const CREDENTIALS_SHAPE = z.looseObject({
  noiseKey: KeyPair,
  pairingEphemeralKeyPair: KeyPair,
  signedIdentityKey: KeyPair,
  signedPreKey: z.object({ keyPair: KeyPair, signature: Bytes, keyId: z.int() }),
  registrationId: z.int(),
  advSecretKey: z.string().min(1),
  nextPreKeyId: z.int(),
  firstUnuploadedPreKeyId: z.int(),
  me: z.looseObject({ id: z.string(), lid: z.string().optional() }).optional(),
});

/**
 * Returns whether the account is linked according to the stored credentials. WhatsApp is not asked,
 * because a second connection from the same device would close the running gateway's connection.
 */
export async function probeWhatsApp({ values }: Pick<ProbeEnv, 'values'>): Promise<ChannelProbe> {
  if (values === null) return { kind: 'unknown', reason: 'the running gateway holds the link' };
  try {
    const { me, account } = await loadCredentials({
      get: values.get,
      set: async () => {},
      clear: async () => {},
    });
    if (me === undefined || account === undefined) return UNLINKED;
    return { kind: 'works', as: me.name ?? 'a linked device', warnings: [], clock: null };
  } catch (thrown) {
    const reason = reasonOf(thrown);
    return { kind: 'problem', reason, fix: FIX, retryable: false };
  }
}

const UNLINKED: ChannelProbe = {
  kind: 'unlinked',
  reason: 'no phone is linked yet',
  fix: 'Start Parley. Then use the phone, in WhatsApp under "Linked devices", to scan or type the code that the terminal and the page show.',
};
