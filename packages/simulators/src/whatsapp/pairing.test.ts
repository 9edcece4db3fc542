import { describe, expect, it } from 'vitest';
import { createFreshAuth, startScene } from './testing/test-scene.ts';

describe('linking a client to the WhatsApp double', () => {
  it('opens a connection after scanning a code and restarting', async () => {
    const { double, connect } = await startScene();
    const auth = createFreshAuth();
    const first = connect({ auth });
    const qr = await first.waitFor(() => first.qr);
    expect(qr).toContain(double.pairingRefs()?.[0]);
    double.scan(qr);
    await first.waitFor(() => first.closedWith === 515);
    expect(auth.creds.me).toMatchObject({
      id: '491500000001:2@s.whatsapp.net',
      lid: '10000000000001:2@lid',
    });

    const second = connect({ auth });
    await second.opened();
    expect(double.stanzas('iq').filter(({ attrs }) => attrs.xmlns === 'encrypt')).toMatchObject([
      { content: [{ tag: 'count' }] },
      { content: [{ tag: 'registration' }, {}, {}, { tag: 'list' }, { tag: 'skey' }] },
      { content: [{ tag: 'digest' }] },
    ]);
    expect(double.transcript.problems).toEqual([]);
  });

  it('delivers the first messages without waiting for history', async () => {
    const { double, connect } = await startScene();
    const auth = createFreshAuth();
    const first = connect({ auth });
    double.scan(await first.waitFor(() => first.qr));
    await first.waitFor(() => first.closedWith === 515);
    const second = connect({ auth });
    await second.opened();
    await double.say({ chat: double.addPerson().id, text: 'at once' });
    await second.waitFor(() => second.texts.includes('at once'));
    await second.waitFor(() => auth.creds.accountSyncCounter === 1);
    expect(auth.creds.me?.name).toBe('Owner');
  });

  it('offers several codes and rejects old codes and codes of another client', async () => {
    const { double, connect } = await startScene();
    expect(() => double.scan('2@x,y,z')).toThrow('No client is waiting');
    const client = connect({ auth: createFreshAuth(), qrTimeout: 50 });
    const qr = await client.waitFor(() => client.qr);
    const next = await client.waitFor(() => client.qr !== qr && client.qr);
    expect(next).toContain(double.pairingRefs()?.[1]);
    expect(() => double.scan(qr.replace('2@', '3@'))).toThrow('no longer valid');
    expect(() => double.scan(qr.replace(/,[^,]+,/, ',AAAA,'))).toThrow('Another noise key');
    // The client has used all its codes at this point.
    await client.waitFor(() => client.closedWith === 408);
    expect(double.pairingRefs()).toBeUndefined();
  });

  it('opens a connection after typing a code on the phone', async () => {
    const { double, connect } = await startScene();
    const auth = createFreshAuth();
    const first = connect({ auth, browser: ['Windows', 'Chrome', '10'] });
    await first.waitFor(() => first.qr);
    const code = await first.socket.requestPairingCode('491500000001');
    await first.waitFor(() => first.answers.length > 0);
    await expect(double.typeCode('AAAA-AAAA')).rejects.toThrow('Wrong code');
    await double.typeCode(`${code.slice(0, 4)}-${code.slice(4)}`);
    await first.waitFor(() => first.closedWith === 515);
    expect(auth.creds.me).toMatchObject({ id: '491500000001:2@s.whatsapp.net' });
    await connect({ auth }).opened();
    expect(double.transcript.problems).toEqual([]);
  });

  it.each([
    ['a name that is not a browser on a system', 'Parley', '491500000001'],
    ['a number with characters other than digits', 'Windows', '+491500000001'],
  ])('rejects a request for a typed code with %s', async (_what, system, number) => {
    const { double, connect } = await startScene();
    const client = connect({ auth: createFreshAuth(), browser: [system, 'Chrome', '10'] });
    await client.waitFor(() => client.qr);
    const code = await client.socket.requestPairingCode(number);
    await client.waitFor(() => client.answers.length > 0);
    expect(client.answers).toMatchObject([{ attrs: { type: 'error' } }]);
    await expect(double.typeCode(code)).rejects.toThrow('does not show a code');
  });

  it("rejects a code that was requested for another number's phone", async () => {
    const { double, connect } = await startScene();
    await expect(double.typeCode('AAAA-AAAA')).rejects.toThrow('No client is waiting');
    const client = connect({ auth: createFreshAuth(), browser: ['Mac OS', 'Safari', '1'] });
    await client.waitFor(() => client.qr);
    const code = await client.socket.requestPairingCode('491500000002');
    await client.waitFor(() => client.answers.length > 0);
    await expect(double.typeCode(code)).rejects.toThrow("another number's phone");
  });

  it('accepts the same credentials for another login and rejects all other credentials', async () => {
    const { double, auth, connect } = await startScene();
    const first = connect();
    await first.opened();
    await first.end();
    expect(auth.creds.routingInfo?.toString()).toBe('double');
    const second = connect();
    await second.opened();
    const thief = createFreshAuth();
    Object.assign(thief.creds, { me: auth.creds.me });
    const stranger = connect({ auth: thief });
    await stranger.waitFor(() => stranger.closedWith === 401);
    expect(second.closedWith).toBeUndefined();
    expect(double.transcript.problems).toEqual([]);
  });

  it('closes the older of two connections with the same credentials', async () => {
    const { connect } = await startScene();
    const first = connect();
    await first.opened();
    const second = connect();
    await second.opened();
    await first.waitFor(() => first.closedWith === 440);
  });

  it('unlinks a client that logs out', async () => {
    const { connect } = await startScene();
    const first = connect();
    await first.opened();
    await first.socket.logout();
    const second = connect();
    await second.waitFor(() => second.closedWith === 401);
  });
});

describe('the queries of a starting client', () => {
  it('answers all queries of a starting client', async () => {
    const { double, connect } = await startScene();
    const client = connect({ keepAliveIntervalMs: 50 });
    await client.opened();
    const names = () => new Set(double.stanzas('iq').map(({ attrs }) => attrs.xmlns));
    const asked = ['abt', 'blocklist', 'encrypt', 'passive', 'privacy', 'w:p'];
    await double.waitFor(() => asked.every((name) => names().has(name)));
    expect([...names()].sort()).toEqual(asked);
    expect(await client.socket.fetchPrivacySettings()).toMatchObject({ readreceipts: 'all' });
    expect(await client.socket.fetchBlocklist()).toEqual([]);
    expect(await client.socket.fetchAccountReachoutTimelock()).toMatchObject({ isActive: false });
    await client.socket.sendWAMBuffer(Buffer.from('statistics'));
    await expect(client.socket.updateProfileStatus('busy')).resolves.toBeUndefined();
    await expect(client.socket.getBusinessProfile('1@s.whatsapp.net')).rejects.toThrow(
      'not-implemented',
    );
  });

  it('reports the numbers that use WhatsApp and the LID of a number', async () => {
    const { double, connect } = await startScene();
    const client = connect();
    await client.opened();
    const ann = double.addPerson({ number: '4911', lid: '77' });
    expect(await client.socket.onWhatsApp('+4911', '+4912')).toEqual([
      { jid: ann.id, exists: true },
    ]);
    const { lidMapping } = client.socket.signalRepository;
    expect(await lidMapping.getLIDForPN(ann.id)).toBe('77@lid');
  });
});
