import { proto } from '@whiskeysockets/baileys';
import { describe, expect, it } from 'vitest';
import { startConnectedScene } from './testing/test-scene.ts';
import { findChild, listChildren } from './wire.ts';

describe('direct chats of the WhatsApp double', () => {
  it("delivers a person's message under their number and shows the bot's answer", async () => {
    const { double, client } = await startConnectedScene();
    const ann = double.addPerson({ name: 'Ann' });
    const id = await double.say({ chat: ann.id, text: 'hello' });
    const { type, message } = await client.waitFor(() => client.upserts[0]);
    expect(type).toBe('notify');
    expect(message).toMatchObject({
      key: { remoteJid: ann.pn, remoteJidAlt: ann.lid, fromMe: false, id, addressingMode: 'pn' },
      pushName: 'Ann',
      message: { conversation: 'hello' },
    });
    await client.socket.sendMessage(ann.id, { text: '*hi* Ann' }, { quoted: message });
    const answer = await double.waitFor(() => double.conversation(ann.id)[1]);
    expect(answer).toMatchObject({ from: 'bot', text: '*hi* Ann', quoted: id });
    expect(answer.formatted.visible).toBe('hi Ann');
    expect(double.sends()).toMatchObject([
      { to: ann.pn, devices: [double.me.pn, ann.pn], readers: [ann.id], outcome: 'acked' },
    ]);
    expect(double.transcript.problems).toEqual([]);
  });

  it('encrypts the first message in a new session and later messages in the same session', async () => {
    const { double, client } = await startConnectedScene();
    const ann = double.addPerson();
    await client.socket.sendMessage(ann.id, { text: 'one' });
    await double.waitFor(() => double.conversation(ann.id).length === 1);
    await double.say({ chat: ann.id, text: 'back' });
    await client.waitFor(() => client.texts.includes('back'));
    await client.socket.sendMessage(ann.id, { text: 'two' });
    await double.waitFor(() => double.conversation(ann.id).length === 3);
    const seals = double.stanzas('message').map((stanza) => {
      const to = listChildren(findChild(stanza, 'participants'), 'to').find(
        ({ attrs }) => attrs.jid === ann.pn,
      );
      return findChild(to, 'enc')?.attrs.type;
    });
    expect(seals).toEqual(['pkmsg', 'msg']);
  });

  it('uses the identity without a number if the person uses it, and keeps the number secret', async () => {
    const { double, client } = await startConnectedScene();
    const ann = double.addPerson({ addressing: 'lid' });
    const bob = double.addPerson({ hidden: true });
    await double.say({ chat: ann.id, text: 'I am Ann' });
    await client.waitFor(() => client.upserts.length === 1);
    await double.say({ chat: bob.id, text: 'I am nobody' });
    await client.waitFor(() => client.upserts.length === 2);
    expect(client.upserts.map(({ message }) => message.key)).toMatchObject([
      { remoteJid: ann.lid, remoteJidAlt: ann.pn, addressingMode: 'lid' },
      { remoteJid: bob.lid, addressingMode: 'lid' },
    ]);
    expect(client.upserts[1]?.message.key.remoteJidAlt).toBeUndefined();
    await client.socket.sendMessage(ann.lid, { text: 'hello Ann' });
    await client.socket.sendMessage(bob.lid, { text: 'hello you' });
    await double.waitFor(() => double.conversation(bob.id).length === 2);
    expect(double.conversation(ann.id).at(-1)?.text).toBe('hello Ann');
    expect(double.sends().map(({ to }) => to)).toEqual([ann.lid, bob.lid]);
  });

  it('preserves the order of forty concurrent messages in each direction', async () => {
    const { double, client } = await startConnectedScene();
    const ann = double.addPerson();
    await double.say({ chat: ann.id, text: 'start' });
    await client.waitFor(() => client.texts.length === 1);
    const numbers = Array.from({ length: 40 }, (_, nth) => String(nth));
    const said = numbers.map((text) => double.say({ chat: ann.id, text }));
    for (const text of numbers) await client.socket.sendMessage(ann.id, { text });
    await Promise.all(said);
    await client.waitFor(() => client.texts.filter((text) => text !== 'start').length >= 80);
    await double.waitFor(() => double.conversation(ann.id).length === 81);
    const others = client.upserts.filter(({ type }) => type === 'notify');
    expect(others.map(({ message }) => message.message?.conversation)).toEqual([
      'start',
      ...numbers,
    ]);
    const fromBot = double.conversation(ann.id).filter(({ from }) => from === 'bot');
    expect(fromBot.map(({ text }) => text)).toEqual(numbers);
  });

  it('shows at most 65,536 characters of a message, and shows repeated ids only once', async () => {
    const { double, client } = await startConnectedScene();
    const ann = double.addPerson();
    const options = { messageId: 'SAME' };
    await client.socket.sendMessage(ann.id, { text: 'x'.repeat(70_000) }, options);
    await client.socket.sendMessage(ann.id, { text: 'again' }, options);
    await double.waitFor(() => double.sends().length === 2);
    expect(double.conversation(ann.id).map(({ text }) => text.length)).toEqual([65_536]);
  });

  it("reports messages typed on the owner's phone to the client", async () => {
    const { double, client } = await startConnectedScene();
    const ann = double.addPerson();
    await double.acts.sayAsOwner({ chat: ann.id, text: 'it is me' });
    const { message } = await client.waitFor(() => client.upserts[0]);
    expect(message).toMatchObject({
      key: { remoteJid: ann.pn, fromMe: true },
      message: { conversation: 'it is me' },
    });
    expect(double.conversation(ann.id)).toMatchObject([{ from: 'owner', text: 'it is me' }]);
  });

  it('delivers statuses, broadcast lists and channels like any other message', async () => {
    const { double, client } = await startConnectedScene();
    const ann = double.addPerson();
    await double.say({ chat: 'status@broadcast', from: ann.id, text: 'a status' });
    await double.say({ chat: '77@broadcast', from: ann.id, text: 'to a list' });
    await double.say({ chat: '88@newsletter', from: ann.id, text: 'to a channel' });
    await client.waitFor(() => client.texts.length === 3);
    expect(client.upserts.map(({ type, message }) => [type, message.key.remoteJid])).toEqual([
      ['notify', 'status@broadcast'],
      ['notify', '77@broadcast'],
      ['notify', '88@newsletter'],
    ]);
  });
});

describe('edits, reactions and deletions in the WhatsApp double', () => {
  it('delivers quotes, mentions, edits, reactions and deletions by a person', async () => {
    const { double, client } = await startConnectedScene();
    const ann = double.addPerson();
    const sent = await client.socket.sendMessage(ann.id, { text: 'hello' });
    await double.waitFor(() => double.conversation(ann.id).length === 1);
    const botsId = sent?.key.id ?? '';
    const id = await double.say({
      chat: ann.id,
      text: 'yes',
      quote: botsId,
      mentions: [double.me.id],
    });
    await double.acts.reword({ chat: ann.id, id, text: 'yes!' });
    await double.acts.react({ chat: ann.id, id: botsId, emoji: '👍' });
    await double.acts.takeBack({ chat: ann.id, id });
    const others = () => client.upserts.filter(({ type }) => type === 'notify');
    await client.waitFor(() => others().length === 4);
    expect(others().map(({ message }) => message.message)).toMatchObject([
      {
        extendedTextMessage: {
          text: '@491500000001 yes',
          contextInfo: {
            stanzaId: botsId,
            participant: double.me.pn,
            mentionedJid: [double.me.pn],
            quotedMessage: { conversation: 'hello' },
          },
        },
      },
      {
        editedMessage: {
          message: {
            protocolMessage: {
              type: proto.Message.ProtocolMessage.Type.MESSAGE_EDIT,
              key: { id },
              editedMessage: { conversation: 'yes!' },
            },
          },
        },
      },
      { reactionMessage: { text: '👍', key: { id: botsId, fromMe: true, remoteJid: ann.pn } } },
      { protocolMessage: { key: { id } } },
    ]);
    expect(double.conversation(ann.id)).toMatchObject([
      { from: 'bot', reactions: new Map([[ann.id, '👍']]) },
      { from: ann.id, deleted: true, edits: 1 },
    ]);
  });

  it("shows the bot's edits, reactions and deletions", async () => {
    const { double, client } = await startConnectedScene();
    const ann = double.addPerson();
    const id = await double.say({ chat: ann.id, text: 'hello' });
    const { message } = await client.waitFor(() => client.upserts[0]);
    const first = await client.socket.sendMessage(ann.id, { text: 'thinking' });
    const second = await client.socket.sendMessage(ann.id, { text: 'wrong' });
    if (first === undefined || second === undefined) throw new Error('nothing sent');
    await client.socket.sendMessage(ann.id, { text: 'done', edit: first.key });
    await client.socket.sendMessage(ann.id, { delete: second.key });
    await client.socket.sendMessage(ann.id, { react: { text: '👀', key: message.key } });
    await double.waitFor(() => double.conversation(ann.id)[0]?.reactions.size === 1);
    expect(double.conversation(ann.id)).toMatchObject([
      { id, reactions: new Map([['bot', '👀']]) },
      { text: 'done', edits: 1 },
      { text: '', deleted: true },
    ]);
    await client.socket.sendMessage(ann.id, { react: { text: '', key: message.key } });
    await double.waitFor(() => double.conversation(ann.id)[0]?.reactions.size === 0);
  });
});

describe('receipts and typing in the WhatsApp double', () => {
  it('reports to the client that its message was delivered and read', async () => {
    const { double, client } = await startConnectedScene();
    const ann = double.addPerson();
    const sent = await client.socket.sendMessage(ann.id, { text: 'hello' });
    const { DELIVERY_ACK, READ } = proto.WebMessageInfo.Status;
    await client.waitFor(() => client.statuses(sent?.key.id).includes(DELIVERY_ACK));
    expect(client.statuses(sent?.key.id)).not.toContain(READ);
    double.acts.read({ chat: ann.id });
    await client.waitFor(() => client.statuses(sent?.key.id).includes(READ));
    await double.waitFor(() => double.stanzas('ack').length === 2);
  });

  it("shows the bot's read receipts and typing, and reports a person's typing to the bot", async () => {
    const { double, client } = await startConnectedScene();
    const ann = double.addPerson();
    await double.say({ chat: ann.id, text: 'hello' });
    const { message } = await client.waitFor(() => client.upserts[0]);
    await client.socket.readMessages([message.key]);
    await double.waitFor(() => double.conversation(ann.id)[0]?.readBy.has('bot'));
    await client.socket.sendPresenceUpdate('composing', ann.id);
    const sign = await double.waitFor(() => double.stanzas('chatstate')[0]);
    expect(sign).toMatchObject({ attrs: { to: ann.pn }, content: [{ tag: 'composing' }] });
    double.acts.type({ chat: ann.id }, 'recording');
    await client.waitFor(() => client.presences.length === 1);
    expect(client.presences).toEqual([
      { id: ann.pn, presences: { [ann.id]: { lastKnownPresence: 'recording' } } },
    ]);
  });
});
