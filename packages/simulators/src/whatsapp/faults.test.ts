import { proto } from '@whiskeysockets/baileys';
import { describe, expect, it } from 'vitest';
import { startConnectedScene, startScene } from './testing/test-scene.ts';

describe('connection faults of the WhatsApp double', () => {
  it('reports the reason for closing to the client, which may reconnect', async () => {
    const { double, connect } = await startScene();
    for (const code of [408, 411, 428, 440, 500, 503, 515]) {
      const client = connect();
      await client.opened();
      double.kick(code);
      await client.waitFor(() => client.closedWith !== undefined);
      expect(client.closedWith).toBe(code);
    }
    await connect().opened();
  });

  it.each([401, 403])('closes the connection with %i and rejects later logins', async (code) => {
    const { double, client, connect } = await startConnectedScene();
    double.kick(code);
    await client.waitFor(() => client.closedWith === code);
    for (const again of [connect(), connect()]) {
      await again.waitFor(() => again.closedWith === code);
    }
  });

  it('drops the connection without a close frame', async () => {
    const { double, client, connect } = await startConnectedScene();
    double.drop();
    await client.waitFor(() => client.closedWith === 428);
    await connect().opened();
  });

  it('keeps the connection open but silent until the client gives up', async () => {
    const { double, client } = await startConnectedScene({ keepAliveIntervalMs: 100 });
    double.silence(true);
    await client.waitFor(() => client.closedWith === 408);
  });

  it('resumes the connection if the silence ends in time', async () => {
    const { double, client, connect } = await startConnectedScene({ defaultQueryTimeoutMs: 1_000 });
    const ann = double.addPerson();
    double.silence(true);
    await double.say({ chat: ann.id, text: 'are you there?' });
    // Baileys does not distinguish a missing answer to a query from an empty one.
    await expect(client.socket.fetchBlocklist()).resolves.toEqual([]);
    const second = connect({ connectTimeoutMs: 200 });
    await second.waitFor(() => second.closedWith === 408);
    expect(client.texts).toEqual([]);
    double.silence(false);
    await client.waitFor(() => client.texts.length === 1);
  });
});

describe('login faults of the WhatsApp double', () => {
  it('rejects a login with any reason, as often as requested', async () => {
    const { double, connect } = await startScene();
    for (const reason of [405, 429, 500, 503]) {
      double.fault({ kind: 'failure', reason, times: 2 });
      for (const client of [connect(), connect()]) {
        await client.waitFor(() => client.closedWith === reason);
      }
    }
    await connect().opened();
  });

  it('leaves the handshake without a response', async () => {
    const { double, connect } = await startScene();
    double.fault({ kind: 'no-greeting' });
    // The delay lets the double see the connection; otherwise the next connection would trigger the
    // fault.
    const client = connect({ connectTimeoutMs: 1500 });
    await client.waitFor(() => client.closedWith === 408);
    await connect().opened();
  });
});

describe('message faults of the WhatsApp double', () => {
  it('rejects a message with a code and does not deliver it', async () => {
    const { double, client } = await startConnectedScene();
    const ann = double.addPerson();
    const { ERROR } = proto.WebMessageInfo.Status;
    for (const code of [429, 463, 479]) {
      double.fault({ kind: 'refuse', code, chat: ann.id, skip: 1 });
      await client.socket.sendMessage(ann.id, { text: `before ${code}` });
      const refused = await client.socket.sendMessage(ann.id, { text: 'refused' });
      await client.waitFor(() => client.statuses(refused?.key.id).includes(ERROR));
      expect(double.sends().at(-1)?.outcome).toBe(code);
    }
    expect(double.conversation(ann.id).map(({ text }) => text)).toEqual([
      'before 429',
      'before 463',
      'before 479',
    ]);
  });

  it('confirms a message late or never', async () => {
    const { double, client } = await startConnectedScene();
    const ann = double.addPerson();
    double.fault({ kind: 'no-ack' });
    const unanswered = await client.socket.sendMessage(ann.id, { text: 'one' });
    await expect(
      client.socket.waitForMessage(unanswered?.key.id ?? '', 200),
    ).resolves.toBeUndefined();
    double.fault({ kind: 'no-ack', lost: true });
    await client.socket.sendMessage(ann.id, { text: 'lost' });
    double.fault({ kind: 'late-ack', ms: 300 });
    await client.socket.sendMessage(ann.id, { text: 'two' }, { messageId: 'late' });
    await double.waitFor(() => double.conversation(ann.id).length === 2);
    expect(client.acks).toEqual([]);
    await client.waitFor(() => client.acks.includes('late'));
    expect(double.conversation(ann.id).map(({ text }) => text)).toEqual(['one', 'two']);
    expect(double.sends().map(({ outcome }) => outcome)).toEqual(['no-ack', 'no-ack', 'acked']);
  });

  it.each([true, false])('drops the connection on a message (message lost: %s)', async (lost) => {
    const { double, client, connect } = await startConnectedScene();
    const ann = double.addPerson();
    double.fault({ kind: 'drop', lost, chat: ann.id });
    await client.socket.sendMessage(ann.id, { text: 'one' }, { messageId: 'same' });
    await client.waitFor(() => client.closedWith === 428);
    const again = connect();
    await again.opened();
    await again.socket.sendMessage(ann.id, { text: 'one' }, { messageId: 'same' });
    await double.waitFor(() => double.sends().length === 2);
    // The id prevents duplicates: recipients of the first copy do not see the second one.
    expect(double.conversation(ann.id)).toHaveLength(1);
    expect(double.sends().map(({ outcome }) => outcome)).toEqual(['dropped', 'acked']);
  });
});

describe('delivery and query faults of the WhatsApp double', () => {
  it('delivers the same stanza twice', async () => {
    const { double, client } = await startConnectedScene();
    const ann = double.addPerson();
    double.fault({ kind: 'twice', chat: ann.id });
    await double.say({ chat: ann.id, text: 'one' });
    await double.say({ chat: ann.id, text: 'two' });
    await client.waitFor(() => client.texts.length === 2);
    expect(client.texts).toEqual(['one', 'two']);
    // The second copy of a message cannot be decrypted.
    await double.waitFor(() => double.stanzas('ack').some(({ attrs }) => attrs.error === '487'));
  });

  it('disconnects right after a message and delivers the message again at the next login', async () => {
    const { double, client, connect } = await startConnectedScene();
    const ann = double.addPerson();
    double.fault({ kind: 'drop-after' });
    const id = await double.say({ chat: ann.id, text: 'one' });
    await client.waitFor(() => client.closedWith === 428);
    expect(double.waiting()).toMatchObject([{ tag: 'message', attrs: { id } }]);
    await connect().opened();
    await double.waitFor(() => double.waiting().length === 0);
  });

  it('rejects a query or leaves it unanswered', async () => {
    const { double, client } = await startConnectedScene({ defaultQueryTimeoutMs: 2_000 });
    const ann = double.addPerson();
    const group = double.addGroup({ subject: 'Friends', members: [ann.id, double.me.id] });
    double.fault({ kind: 'query-error', xmlns: 'w:g2', code: 429 });
    await expect(client.socket.groupMetadata(group.jid)).rejects.toMatchObject({ data: 429 });
    double.fault({ kind: 'query-silence', xmlns: 'w:g2' });
    await expect(client.socket.groupMetadata(group.jid)).rejects.toThrow();
    expect(await client.socket.groupMetadata(group.jid)).toMatchObject({ subject: 'Friends' });
    double.fault({ kind: 'query-silence', xmlns: 'w:g2', times: 9 });
    double.clearFaults();
    await client.socket.groupMetadata(group.jid);
  });
});
