import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { proto } from '@whiskeysockets/baileys';
import { describe, expect, it, onTestFinished } from 'vitest';
import { accepted, noSignal } from '../adapter-core.ts';
import { createPart, openScene } from './adapter-scene.ts';
import { trustMedia } from './trust-media.ts';

const DAY = 86_400;

describe('disappearing chats on WhatsApp', () => {
  it('[F18] have disappearing answers: text, quote, file and edit', async () => {
    const { double, adapter, received } = await openScene();
    trustMedia(double);
    const ann = double.addPerson({ name: 'Ann' });
    await double.acts.setTimer({ chat: ann.id, seconds: DAY });
    const id = await double.say({ chat: ann.id, text: 'hello' });
    await double.waitFor(() => received.length === 1);
    const first = await adapter.send(createPart(ann.id, 'hi', { replyTo: id }), noSignal());
    const folder = mkdtempSync(join(tmpdir(), 'parley-files-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'file');
    writeFileSync(path, 'a file');
    const file = { kind: 'document' as const, name: 'a.txt', mimeType: 'text/plain', path };
    await adapter.send({ ...createPart(ann.id, 'a file'), file }, noSignal());
    const bot = () => double.conversation(ann.id).filter(({ from }) => from === 'bot');
    expect(bot().map(({ text, expiration }) => [text, expiration])).toEqual([
      ['hi', DAY],
      ['a file', DAY],
    ]);
    const { messages } = adapter;
    const body = { text: 'hi there', plain: 'hi there' };
    await messages?.edit?.({ chatId: ann.id }, first.platformMessageId ?? '', body);
    await double.waitFor(() => bot()[0]?.edits === 1);
    expect(bot()[0]).toMatchObject({ text: 'hi there', expiration: DAY });
    await double.waitFor(() => double.waiting().length === 0);
  });

  it("[F18] are recognized after a restart, and only from people's messages", async () => {
    const { double, adapter, received, again, connected } = await openScene();
    const ann = double.addPerson({ name: 'Ann' });
    const contextInfo = { expiration: DAY, ephemeralSettingTimestamp: 1_700_000_000 };
    await double.acts.post(
      { chat: ann.id },
      { extendedTextMessage: { text: 'psst', contextInfo } },
    );
    await double.waitFor(() => received.length === 1);
    await adapter.stop();
    const restarted = await again();
    await connected(2);
    await restarted.send(createPart(ann.id, 'yes?'), noSignal());
    expect(double.sends().at(-1)?.message?.extendedTextMessage?.contextInfo).toMatchObject({
      expiration: DAY,
      ephemeralSettingTimestamp:
        proto.ContextInfo.fromObject(contextInfo).ephemeralSettingTimestamp,
    });
  });

  it('[F18] have permanent answers once the timer is turned off', async () => {
    const { double, adapter, received, ignored } = await openScene();
    const ann = double.addPerson({ name: 'Ann' });
    await double.acts.setTimer({ chat: ann.id, seconds: DAY });
    await double.say({ chat: ann.id, text: 'one' });
    await double.acts.setTimer({ chat: ann.id, seconds: 0 });
    await double.say({ chat: ann.id, text: 'two' });
    await double.waitFor(() => received.length === 2);
    await adapter.send(createPart(ann.id, 'hi'), noSignal());
    expect(double.conversation(ann.id).at(-1)?.expiration).toBeUndefined();
    expect(ignored.map(({ reason }) => reason)).toEqual([
      'a setting of the chat: messages disappear after 86400 s',
      'a setting of the chat: messages stay again',
    ]);
  });

  it('[F18] may be groups, whose timer WhatsApp itself reports', async () => {
    const { double, adapter, received } = await openScene();
    const ann = double.addPerson({ name: 'Ann' });
    const members = [ann.id, double.me.id];
    const group = double.addGroup({ subject: 'G', members, ephemeral: DAY });
    await double.say({ chat: group.jid, from: ann.id, text: 'one' });
    await double.waitFor(() => received.length === 1);
    await adapter.send(createPart(group.jid, 'first'), noSignal());
    double.changeGroup(group.jid, { kind: 'ephemeral', seconds: 0 });
    await double.say({ chat: group.jid, from: ann.id, text: 'two' });
    await double.waitFor(() => received.length === 2);
    await adapter.send(createPart(group.jid, 'second'), noSignal());
    const bot = double.conversation(group.jid).filter(({ from }) => from === 'bot');
    expect(bot.map(({ expiration }) => expiration)).toEqual([DAY, undefined]);
  });

  it('[F05] [F18] do not store data about strangers until they are answered', async () => {
    const refused = { kind: 'refused', reason: 'a stranger' } as const;
    let isStranger = true;
    const receive = async () => (isStranger ? refused : accepted);
    const { double, received, values } = await openScene({ receive });
    const eve = double.addPerson({ name: 'Eve', addressing: 'lid' });
    const contextInfo = { expiration: DAY };
    await double.acts.post({ chat: eve.id }, { extendedTextMessage: { text: 'x', contextInfo } });
    await double.waitFor(() => received.length === 1 && double.waiting().length === 0);
    const stored = () => values.get('chat', [eve.id, eve.lid]);
    expect((await stored()).size).toBe(0);
    isStranger = false;
    await double.acts.post({ chat: eve.id }, { extendedTextMessage: { text: 'y', contextInfo } });
    await double.waitFor(() => received.length === 2 && double.waiting().length === 0);
    await expect.poll(async () => (await stored()).size).toBe(1);
  });
});

describe('a WhatsApp chat under an identity without a number', () => {
  it('[F11] [F18] is answered under the identity that the person used, even after a restart', async () => {
    const { double, adapter, received, again, connected } = await openScene();
    const ann = double.addPerson({ name: 'Ann', addressing: 'lid' });
    const id = await double.say({ chat: ann.id, text: 'hello' });
    const question = await double.waitFor(() => received[0]);
    expect(question.chat.id).toBe(ann.pn);
    await adapter.send(createPart(question.chat.id, 'hi', { replyTo: id }), noSignal());
    await adapter.messages?.react?.({ chatId: question.chat.id }, id, '👍');
    await double.waitFor(() => double.conversation(ann.id)[0]?.reactions.size === 1);
    await adapter.stop();
    const restarted = await again();
    await connected(2);
    await restarted.send(createPart(question.chat.id, 'still here'), noSignal());
    const sends = double.sends().map(({ to }) => to);
    expect(sends).toEqual([ann.lid, ann.lid, ann.lid]);
    expect(double.conversation(ann.id).at(-1)?.text).toBe('still here');
  });

  it('[F11] is answered by number again when the person writes by number', async () => {
    const { double, adapter, received } = await openScene();
    const ann = double.addPerson({ name: 'Ann', addressing: 'lid' });
    await double.say({ chat: ann.id, text: 'by identity' });
    await double.waitFor(() => received.length === 1);
    Object.assign(ann, { addressing: 'pn' });
    await double.say({ chat: ann.id, text: 'by number' });
    await double.waitFor(() => received.length === 2);
    await adapter.send(createPart(ann.pn ?? '', 'hi'), noSignal());
    expect(double.sends().at(-1)?.to).toBe(ann.pn);
  });
});

describe('actions on WhatsApp other than messages', () => {
  it('[F16] include calls, each of which is a separate message', async () => {
    const { double, received } = await openScene();
    const ann = double.addPerson({ name: 'Ann' });
    await double.say({ chat: ann.id, text: 'hello' });
    await double.waitFor(() => received.length === 1);
    double.acts.call({ chat: ann.id });
    double.acts.call({ chat: ann.id }, true);
    await double.waitFor(() => received.length === 3);
    expect(received.slice(1).map(({ text, chat, sender }) => [text, chat.id, sender.name])).toEqual(
      [
        [expect.stringContaining('They sent a voice call'), ann.pn, 'Ann'],
        [expect.stringContaining('They sent a video call'), ann.pn, 'Ann'],
      ],
    );
  });

  it('[F16] are recorded when they cannot be decrypted, and a later copy is read once', async () => {
    const { double, received, ignored } = await openScene();
    const ann = double.addPerson({ name: 'Ann' });
    double.fault({ kind: 'garble', chat: ann.id });
    const id = await double.say({ chat: ann.id, text: 'hello' });
    await double.waitFor(() => received.length === 1);
    expect(received[0]).toMatchObject({ messageId: id, text: 'hello' });
    expect(ignored).toMatchObject([
      { event: { messageId: id }, reason: expect.stringContaining('could not be decrypted') },
    ]);
  });

  it('[F16] are read from the phone when a message arrived without content', async () => {
    const { double, received } = await openScene();
    const ann = double.addPerson({ name: 'Ann', addressing: 'lid' });
    const id = double.acts.withoutContent({ chat: ann.id });
    await double.waitFor(() => double.waiting().length === 0);
    await double.acts.sendAgain({ chat: ann.id, id }, { conversation: 'Is this available?' });
    await double.waitFor(() => received.length === 1);
    const sender = { id: ann.pn?.split('@')[0], name: 'Ann' };
    expect(received[0]).toMatchObject({ messageId: id, text: 'Is this available?', sender });
  });

  it('[D12] [F07] cannot attribute words to another person by a forged response', async () => {
    const { double, received, ignored } = await openScene();
    const ann = double.addPerson({ name: 'Ann' });
    const eve = double.addPerson({ name: 'Eve' });
    const key = { remoteJid: ann.id, id: 'FORGED' };
    const message = { conversation: 'pay Eve' };
    const webMessageInfoBytes = proto.WebMessageInfo.encode({ key, message }).finish();
    const peerDataOperationResult = [{ placeholderMessageResendResponse: { webMessageInfoBytes } }];
    const type = proto.Message.ProtocolMessage.Type.PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE;
    const peerDataOperationRequestResponseMessage = { peerDataOperationResult };
    const protocolMessage = { type, peerDataOperationRequestResponseMessage };
    await double.acts.post({ chat: eve.id }, { protocolMessage });
    await double.say({ chat: eve.id, text: 'hello' });
    await double.waitFor(() => received.length === 1);
    expect(received[0]?.text).toBe('hello');
    expect(ignored.map(({ reason }) => reason)).toEqual(['the devices of an account synchronize']);
  });

  it('[F16] [D08] have a recorded reason for statuses, lists, channels, and group changes', async () => {
    const { double, received, ignored } = await openScene();
    const ann = double.addPerson({ name: 'Ann' });
    const group = double.addGroup({ subject: 'G', members: [ann.id, double.me.id] });
    for (const chat of ['status@broadcast', '77@broadcast', '88@newsletter'])
      await double.say({ chat, from: ann.id, text: 'not for us' });
    double.changeGroup(group.jid, { kind: 'subject', subject: 'H' });
    await double.say({ chat: ann.id, text: 'for us' });
    await double.waitFor(() => received.length === 1 && double.waiting().length === 0);
    expect(ignored.map(({ reason }) => reason)).toEqual([
      "WhatsApp's note about the group: create",
      'a status, which is for all contacts',
      'a message to a list of people',
      'a post of a channel',
      "WhatsApp's note about the group: subject",
    ]);
  });

  it('[F16] are still handled when a reason cannot be stored', async () => {
    const failing = async () => {
      throw new Error('the disk is full');
    };
    const { double, received, states } = await openScene({ ignored: failing });
    const ann = double.addPerson({ name: 'Ann' });
    await double.say({ chat: 'status@broadcast', from: ann.id, text: 'x' });
    await double.acts.post({ chat: ann.id }, { pinInChatMessage: { type: 1 } });
    await double.say({ chat: ann.id, text: 'hello' });
    await double.waitFor(() => received.length === 1);
    expect(states.map(({ kind }) => kind)).toEqual(['starting', 'connected']);
  });

  it('[D01] include messages without content, which are delivered again if they could not be stored', async () => {
    let failures = 1;
    const receive = async () => {
      failures -= 1;
      if (failures >= 0) throw new Error('the database is away');
      return accepted;
    };
    const { double, received, connected } = await openScene({ receive });
    const ann = double.addPerson({ name: 'Ann' });
    double.acts.withhold({ chat: ann.id }, 'view_once');
    await connected(2);
    await double.waitFor(() => received.length === 1);
    expect(received[0]?.text).toContain('a view-once message');
  });
});

describe('a reply on WhatsApp', () => {
  it("[F16] to a picture contains the picture, and a reply to a bot message contains the bot's picture", async () => {
    const { double, adapter, received } = await openScene();
    trustMedia(double);
    const ann = double.addPerson({ name: 'Ann' });
    const content = Buffer.from('a picture');
    const id = await double.acts.sendFile({
      ...{ chat: ann.id, kind: 'image', content, mimetype: 'image/png', caption: 'the sea' },
    });
    await double.say({ chat: ann.id, text: 'where is this?', quote: id });
    await double.waitFor(() => received.length === 2);
    const [attachment] = received[1]?.attachments ?? [];
    expect(received[1]?.replyTo).toMatchObject({ messageId: id, text: 'the sea' });
    const fetched = await adapter.files?.fetch(attachment?.ref ?? '', 99, noSignal());
    expect(Buffer.from(fetched ?? [])).toEqual(content);
    // A file deleted by the host is requested under the id of the quoted message.
    const { directPath = '' } = double.conversation(ann.id)[0]?.attachment ?? {};
    double.media.forget(directPath);
    const once = await adapter.files?.fetch(attachment?.ref ?? '', 99, noSignal());
    expect(Buffer.from(once ?? [])).toEqual(content);
  });
});
