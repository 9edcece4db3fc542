import { describe, expect, it } from 'vitest';
import { PairingCode } from './connection.ts';

const ask = (codes: PairingCode, path = '/channels/whatsapp/default/code.svg', method = 'GET') =>
  codes.fetch(new Request(`http://127.0.0.1${path}`, { method }));

describe('the picture of the pairing code', () => {
  it('[U03] is available while the account waits to be linked, is not stored, and changes with the code', async () => {
    const codes = new PairingCode();
    codes.note({
      kind: 'pairing',
      code: 'https://wa.me/settings/linked_devices#first',
      how: 'scan',
    });
    const first = await ask(codes);
    expect(first.headers.get('content-type')).toBe('image/svg+xml');
    expect(first.headers.get('cache-control')).toBe('no-store');
    const picture = await first.text();
    expect(picture).toMatch(/^<svg .*<path .*<\/svg>\s*$/s);
    codes.note({
      kind: 'pairing',
      code: 'https://wa.me/settings/linked_devices#second',
      how: 'scan',
    });
    expect(await (await ask(codes)).text()).not.toBe(picture);
  });

  it('is unavailable before the code is shown, after linking, and under another name', async () => {
    const codes = new PairingCode();
    expect((await ask(codes)).status).toBe(404);
    codes.note({ kind: 'pairing', code: 'x', how: 'scan' });
    expect((await ask(codes, '/channels/whatsapp/default/other')).status).toBe(404);
    expect((await ask(codes, undefined, 'POST')).status).toBe(404);
    codes.note({ kind: 'pairing', code: 'ABCD-EFGH', how: 'type' });
    expect((await ask(codes)).status).toBe(404);
    codes.note({ kind: 'connected', as: 'Ann' });
    expect((await ask(codes)).status).toBe(404);
  });
});
