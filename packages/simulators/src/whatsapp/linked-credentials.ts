import {
  type AuthenticationCreds,
  Curve,
  initAuthCreds,
  type KeyPair,
  proto,
  type SignalDataSet,
  WA_ADV_ACCOUNT_SIG_PREFIX,
  WA_ADV_DEVICE_SIG_PREFIX,
} from '@whiskeysockets/baileys';
import type { Account } from './account.ts';
import { Companion } from './companion.ts';

const PRE_KEYS = 30;

/** What a client that was linked long ago has stored. */
export interface LinkedCredentials {
  readonly creds: AuthenticationCreds;
  readonly keys: SignalDataSet;
}

/**
 * A client that is linked already, without a code to scan: for tests about something else. It has
 * had its history, and keys of it are with the servers.
 */
export function linkedCredentials(
  account: Account,
  device: number,
): { readonly companion: Companion; readonly credentials: LinkedCredentials } {
  const creds = initAuthCreds();
  const { me } = account;
  const companion = new Companion(me, device, creds.noiseKey.public);
  companion.isNew = false;
  const preKeys: Record<string, KeyPair> = {};
  for (let id = 1; id <= PRE_KEYS; id += 1) preKeys[id] = Curve.generateKeyPair();
  const { signedPreKey, signedIdentityKey, registrationId } = creds;
  companion.publish(
    {
      registrationId,
      identity: signedIdentityKey.public,
      signed: {
        id: signedPreKey.keyId,
        key: signedPreKey.keyPair.public,
        signature: signedPreKey.signature,
      },
    },
    Object.entries(preKeys).map(([id, pair]) => ({ id: Number(id), key: pair.public })),
  );
  const linked: AuthenticationCreds = {
    ...creds,
    me: { id: companion.pn, lid: companion.lid, name: me.name },
    account: vouchedIdentity(account, creds, device),
    platform: 'android',
    accountSyncCounter: 1,
    nextPreKeyId: PRE_KEYS + 1,
    firstUnuploadedPreKeyId: PRE_KEYS + 1,
  };
  return { companion, credentials: { creds: linked, keys: { 'pre-key': preKeys } } };
}

function vouchedIdentity(
  { me, clock }: Account,
  { signedIdentityKey: mine }: AuthenticationCreds,
  device: number,
): proto.IADVSignedDeviceIdentity {
  const phone = me.phone.creds.signedIdentityKey;
  const timestamp = Math.floor(clock() / 1000);
  const details = proto.ADVDeviceIdentity.encode({
    rawId: device,
    timestamp,
    keyIndex: device,
  }).finish();
  const vouched = Buffer.concat([WA_ADV_ACCOUNT_SIG_PREFIX, details, mine.public]);
  const own = Buffer.concat([WA_ADV_DEVICE_SIG_PREFIX, details, mine.public, phone.public]);
  return {
    details,
    accountSignatureKey: phone.public,
    accountSignature: Curve.sign(phone.private, vouched),
    deviceSignature: Curve.sign(mine.private, own),
  };
}
