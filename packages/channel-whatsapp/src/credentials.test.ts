import { createInMemoryAdapterValues } from '@parley/core/testing';
import { initAuthCreds, proto, type SignalDataSet } from '@whiskeysockets/baileys';
import { describe, expect, it } from 'vitest';
import { createKeyStore, loadCredentials, saveCredentials } from './credentials.ts';
import type { WhatsAppError } from './failures.ts';

// libsignal writes an object where Baileys' types declare bytes.
const SESSION: Uint8Array = JSON.parse('{"_sessions":{"key":{"chain":1}},"version":"v1"}');
const DATA: SignalDataSet = {
  'pre-key': { 1: { public: Buffer.from([1]), private: Buffer.from([2]) } },
  session: { 'a.0': SESSION },
  'sender-key': { g: Buffer.from('sender') },
  'sender-key-memory': { g: { 'a@lid': true } },
  'app-state-sync-key': {
    k: proto.Message.AppStateSyncKeyData.fromObject({ keyData: Buffer.from('state') }),
  },
  'app-state-sync-version': {
    regular: {
      version: 2,
      hash: Buffer.from('h'),
      indexValueMap: { i: { valueMac: Buffer.from('m') } },
    },
  },
  'lid-mapping': { '49151': '123' },
  'device-list': { '49151': ['0', '3'] },
  tctoken: { 'a@lid': { token: Buffer.from('t'), timestamp: '1' } },
  'identity-key': { 'a.0': Buffer.from('identity') },
};

function scene() {
  const values = createInMemoryAdapterValues();
  const damages: WhatsAppError[] = [];
  return { values, damages, keys: createKeyStore(values, (error) => damages.push(error)) };
}

describe('the stored link to WhatsApp', () => {
  it('stores every kind of key unchanged', async () => {
    const { values, keys } = scene();
    await keys.set(DATA);
    const again = createKeyStore(values, () => {});
    for (const kind of [
      'pre-key',
      'session',
      'sender-key',
      'sender-key-memory',
      'app-state-sync-key',
      'app-state-sync-version',
      'lid-mapping',
      'device-list',
      'tctoken',
      'identity-key',
    ] as const) {
      const ids = Object.keys(DATA[kind] ?? {});
      expect(ids).toHaveLength(1);
      expect(await again.get(kind, ids)).toEqual(DATA[kind]);
    }
  });

  it('deletes keys that are set to null', async () => {
    const { keys } = scene();
    await keys.set(DATA);
    await keys.set({ session: { 'a.0': null } });
    expect(await keys.get('session', ['a.0'])).toEqual({});
  });

  it('writes all keys of one change in a single call', async () => {
    const { values } = scene();
    const written: number[] = [];
    const keys = createKeyStore(
      { ...values, set: async (changes) => void written.push(changes.length) },
      () => {},
    );
    await keys.set(DATA);
    expect(written).toEqual([10]);
  });

  it('keeps credentials, and creates new ones only if there are none', async () => {
    const { values } = scene();
    const creds = initAuthCreds();
    await saveCredentials(values, creds);
    expect(await loadCredentials(values)).toEqual(creds);
  });

  it.each(['', '{"noiseKey":', '{}', 'null', '{"noiseKey":{"public":"x"}}'])(
    'refuses damaged credentials instead of creating a new identity: %s',
    async (value) => {
      const { values } = scene();
      await values.set([{ kind: 'credentials', id: 'credentials', value }]);
      await expect(loadCredentials(values)).rejects.toMatchObject({
        code: 'whatsapp-state-damaged',
        message: expect.stringContaining('backup'),
      });
    },
  );

  it('reports a damaged key, which Baileys would treat as missing', async () => {
    const { values, keys, damages } = scene();
    await values.set([{ kind: 'session', id: 'a.0', value: '{"cut' }]);
    await expect(keys.get('session', ['a.0'])).rejects.toThrow('damaged (session)');
    await values.set([{ kind: 'session', id: 'a.0', value: '"text"' }]);
    await expect(keys.get('session', ['a.0'])).rejects.toThrow('damaged (session)');
    expect(damages).toHaveLength(2);
  });
});
