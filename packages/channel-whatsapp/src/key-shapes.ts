import { proto, type SignalDataTypeMap } from '@whiskeysockets/baileys';
import { z } from 'zod';

const Bytes = z.instanceof(Uint8Array);
const KeyPair = z.object({ public: Bytes, private: Bytes });

/** A session as libsignal writes it: an object, whatever Baileys' types say. */
const Session = z.looseObject({ _sessions: z.record(z.string(), z.unknown()) });

/** The shape of every kind of key that Baileys keeps, by kind; what else stands beside it stays. */
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

/** What credentials cannot do without; Baileys keeps more beside it. */
export const CREDENTIALS_SHAPE = z.looseObject({
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
