import type { WAMessageKey } from '@whiskeysockets/baileys';
import { describe, expect, it } from 'vitest';
import { startConnectedScene } from './testing/test-scene.ts';

describe('undecryptable messages in the WhatsApp double', () => {
  it('sends a direct message again when the recipient lost its session', async () => {
    const { double, client } = await startConnectedScene();
    const ann = double.addPerson();
    await double.say({ chat: ann.id, text: 'hello' });
    await client.waitFor(() => client.texts.length === 1);
    await client.socket.sendMessage(ann.id, { text: 'one' });
    await double.waitFor(() => double.conversation(ann.id).length === 2);
    await double.say({ chat: ann.id, text: 'got it' });
    await client.waitFor(() => client.texts.includes('got it'));
    double.loseSessions(ann.id);
    const sent = await client.socket.sendMessage(ann.id, { text: 'two' });
    const again = await double.waitFor(() => double.conversation(ann.id)[3]);
    expect(again).toMatchObject({ id: sent?.key.id, text: 'two' });
    const attempts = double.sends().filter(({ id }) => id === sent?.key.id);
    expect(attempts.map(({ readers, unreadable }) => ({ readers, unreadable }))).toEqual([
      { readers: [], unreadable: [ann.id] },
      { readers: [ann.id], unreadable: [] },
    ]);
  });

  it('requests the message from the application when another connection sent it', async () => {
    const { double, client, connect } = await startConnectedScene();
    const ann = double.addPerson();
    await client.socket.sendMessage(ann.id, { text: 'one' });
    await double.waitFor(() => double.conversation(ann.id).length === 1);
    await double.say({ chat: ann.id, text: 'back' });
    await client.waitFor(() => client.texts.includes('back'));
    double.loseSessions(ann.id);
    // The connection is dropped before the phone's request arrives.
    double.fault({ kind: 'drop', chat: ann.id });
    const sent = await client.socket.sendMessage(ann.id, { text: 'two' });
    await client.waitFor(() => client.closedWith === 428);
    const asked: WAMessageKey[] = [];
    connect({
      getMessage: async (key) => {
        asked.push(key);
        return { conversation: 'two, from the store' };
      },
    });
    const shown = await double.waitFor(() => double.conversation(ann.id)[2]);
    expect(shown).toMatchObject({ id: sent?.key.id, text: 'two, from the store' });
    expect(asked).toMatchObject([{ remoteJid: ann.pn, fromMe: true, id: sent?.key.id }]);
  });

  it('sends a group message again when a member lost its keys', async () => {
    const { double, client } = await startConnectedScene();
    const ann = double.addPerson();
    const bob = double.addPerson();
    const group = double.addGroup({ subject: 'Friends', members: [ann.id, bob.id, double.me.id] });
    await client.socket.sendMessage(group.jid, { text: 'one' });
    await double.waitFor(() => double.conversation(group.jid).length === 1);
    double.loseSessions(bob.id);
    const sent = await client.socket.sendMessage(group.jid, { text: 'two' });
    await double.waitFor(() => double.sends().length === 3);
    expect(double.sends().slice(1)).toMatchObject([
      { id: sent?.key.id, readers: [ann.id], unreadable: [bob.id] },
      { id: sent?.key.id, readers: [ann.id, bob.id] },
    ]);
    expect(double.conversation(group.jid).map(({ text }) => text)).toEqual(['one', 'two']);
  });

  it('encrypts a direct message again when the client cannot decrypt it and first reports a stub', async () => {
    const { double, client } = await startConnectedScene();
    const ann = double.addPerson();
    await double.say({ chat: ann.id, text: 'hello' });
    await client.waitFor(() => client.texts.length === 1);
    double.fault({ kind: 'garble', chat: ann.id });
    const id = await double.say({ chat: ann.id, text: 'hard to read' });
    await client.waitFor(() => client.texts.includes('hard to read'));
    const seen = client.upserts.filter(({ message }) => message.key.id === id);
    expect(seen.map(({ type, message }) => [type, message.messageStubType])).toEqual([
      ['notify', 2],
      ['notify', undefined],
    ]);
    expect(double.stanzas('receipt').some(({ attrs }) => attrs.type === 'retry')).toBe(true);
    await double.waitFor(() => double.waiting().length === 0);
  });

  it('encrypts a group message again when the client cannot decrypt it', async () => {
    const { double, client } = await startConnectedScene();
    const ann = double.addPerson();
    const group = double.addGroup({ subject: 'Friends', members: [ann.id, double.me.id] });
    const place = { chat: group.jid, from: ann.id };
    await double.say({ ...place, text: 'hello' });
    double.fault({ kind: 'garble', chat: group.jid });
    await double.say({ ...place, text: 'hard to read' });
    await client.waitFor(() => client.texts.includes('hard to read'));
    expect(double.stanzas('receipt').some(({ attrs }) => attrs.type === 'retry')).toBe(true);
    await double.say({ ...place, text: 'easy' });
    await client.waitFor(() => client.texts.includes('easy'));
  });

  it('gives up on a message that can never be decrypted and continues with later messages', async () => {
    const { double, client } = await startConnectedScene({ retryRequestDelayMs: 5 });
    const ann = double.addPerson();
    double.fault({ kind: 'garble', chat: ann.id, times: 100 });
    const id = await double.say({ chat: ann.id, text: 'never' });
    const attempts = () => client.upserts.filter(({ message }) => message.key.id === id);
    // The count includes the original and five repetitions.
    await client.waitFor(() => attempts().length === 6);
    await double.waitFor(() => double.waiting().length === 0);
    double.clearFaults();
    await double.say({ chat: ann.id, text: 'next' });
    await client.waitFor(() => client.texts.includes('next'));
    expect(client.texts).toEqual(['next']);
    const retries = double.stanzas('receipt').filter(({ attrs }) => attrs.type === 'retry');
    expect(retries).toHaveLength(5);
    expect(attempts()).toHaveLength(6);
  });
});
