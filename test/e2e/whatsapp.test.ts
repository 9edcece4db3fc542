import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDueToday } from '@parley/core/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getMessageText, listImages } from '../model/chat-request.ts';
import { runParley } from './parley-process.ts';
import { startWhatsAppScene, type WhatsAppScene } from './whatsapp-scene.ts';

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const JPEG = latin1('\u00ff\u00d8\u00ff\u00e0 and pixels');
const PNG = latin1('\u0089PNG\r\n\u001a\n and pixels');

let scene: WhatsAppScene;
beforeAll(async () => {
  scene = await startWhatsAppScene();
});
afterAll(() => scene?.close());

const count = (chat: string) => scene.answers(chat).length;
const newest = () => scene.model.requests.at(-1)?.body.messages.at(-1);
const asBytes = (messages: ReturnType<typeof listImages>) =>
  messages.map(({ bytes }) => Buffer.from(bytes));
/**
 * Waits until the bot has sent `more` further messages in the chat, and returns the text of each.
 */
const next = async (chat: string, before: number, more = 1) =>
  (await scene.untilAnswers(chat, before + more)).slice(before).map(({ text }) => text);

describe('a complete Parley on WhatsApp', () => {
  it('[F03] answers its owner, recognized by number regardless of the message id', async () => {
    const { double, ann } = scene;
    await double.say({ chat: ann.id, text: 'hello' });
    expect(await next(ann.id, 0)).toEqual(['You said: hello']);
    await double.say({ chat: ann.id, text: '/whoami' });
    expect((await next(ann.id, 1))[0]).toContain('491700000001');
  });

  it('[F05] does not answer a stranger, and notifies the owner', async () => {
    const { double, ann } = scene;
    const before = count(ann.id);
    const stranger = double.addPerson({ name: 'Nobody' });
    await double.say({ chat: stranger.id, text: 'let me in' });
    const [told = ''] = await next(ann.id, before);
    expect(told).toContain('Nobody');
    expect(told).not.toContain('let me in');
    expect(scene.answers(stranger.id)).toEqual([]);
  });

  it('[F06] [F11] answers in a group with a quote when it is mentioned', async () => {
    const { double, ann, group } = scene;
    const direct = count(ann.id);
    const chat = group.jid;
    await double.say({ chat, from: ann.id, text: 'not for you' });
    const id = await double.say({
      chat,
      from: ann.id,
      text: 'for you',
      mentions: [double.me.id],
    });
    const [answer] = await scene.untilAnswers(chat, 1);
    expect(answer).toMatchObject({ quoted: id });
    expect(answer?.text).toContain('for you');
    expect(count(ann.id)).toBe(direct);
  });

  it('[F10] sends a file from its workspace natively, with its caption', async () => {
    const { double, ann, parley, model } = scene;
    const before = count(ann.id);
    writeFileSync(join(parley.data, 'workspace/minutes.pdf'), '%PDF-1.7 minutes');
    const file = { file: 'minutes.pdf', caption: 'As agreed' };
    model.queue({ toolCalls: [{ name: 'send_file', arguments: file }] }, 'Sent.');
    await double.say({ chat: ann.id, text: 'the minutes, please' });
    const [document, answer] = (await scene.untilAnswers(ann.id, before + 2)).slice(before);
    expect(document).toMatchObject({ text: 'As agreed', attachment: { kind: 'document' } });
    expect(answer?.text).toBe('Sent.');
  });

  it('[F08] [F10] handles an album as one turn with all its pictures', async () => {
    const { double, ann, model } = scene;
    const before = count(ann.id);
    const asked = model.total;
    const place = { chat: ann.id };
    const album = await double.acts.post(place, { albumMessage: { expectedImageCount: 2 } });
    const picture = { ...place, album, kind: 'image' } as const;
    await double.acts.sendFile({
      ...picture,
      content: JPEG,
      mimetype: 'image/jpeg',
      caption: 'both?',
    });
    await double.acts.sendFile({ ...picture, content: PNG, mimetype: 'image/png' });
    await next(ann.id, before);
    expect(asBytes(listImages(newest()))).toEqual([JPEG, PNG]);
    expect(model.total).toBe(asked + 1);
  });

  it('[F10] transcribes voice notes, and reports files that it cannot fetch', async () => {
    const { double, ann, model } = scene;
    const before = count(ann.id);
    model.speech = 'when is the next train?';
    const voice = { chat: ann.id, kind: 'audio', voice: true, mimetype: 'audio/ogg' } as const;
    await double.acts.sendFile({ ...voice, content: latin1('OggS and sound') });
    expect((await next(ann.id, before))[0]).toContain('when is the next train?');
    const imageMessage = {
      url: 'https://10.0.0.1/inside',
      mediaKey: latin1('k'.repeat(32)),
      fileSha256: latin1('h'.repeat(32)),
      caption: 'see?',
    };
    await double.acts.post({ chat: ann.id }, { imageMessage });
    const [answer, notice] = await next(ann.id, before + 1, 2);
    expect(answer).toBe('You said: see?');
    expect(notice).toContain('⚙️');
  });

  it('[F01] answers the edited version of a waiting message', async () => {
    const { double, ann } = scene;
    const before = count(ann.id);
    const slow = scene.hold('slow');
    await double.say({ chat: ann.id, text: 'slow' });
    await slow.asked;
    const id = await double.say({ chat: ann.id, text: 'wrong' });
    await double.acts.reword({ chat: ann.id, id, text: 'right' });
    const gone = await double.say({ chat: ann.id, text: 'never mind' });
    await double.acts.takeBack({ chat: ann.id, id: gone });
    await double.waitFor(() => double.waiting().length === 0);
    slow.release();
    const texts = await next(ann.id, before, 2);
    expect(texts[1]).toBe('You said: right');
    expect(getMessageText(newest())).not.toMatch(/wrong|never mind/);
  });

  it('keeps its linked session from other processes and other users', async () => {
    const { double, ann, parley } = scene;
    const logins = () => double.stanzas('iq').filter(({ attrs }) => attrs.xmlns === 'passive');
    const before = logins().length;
    const second = await runParley(['--data', parley.data, 'start']);
    expect(second.code).not.toBe(0);
    expect(second.err).toContain('Another Parley is running');
    expect([double.state(), logins().length]).toEqual(['open', before]);
    const kept = readdirSync(parley.data).filter((name) => name.startsWith('parley.db'));
    expect(kept).toContain('parley.db');
    for (const name of kept) {
      const stat = statSync(join(parley.data, name));
      expect([name, stat.mode & 0o777]).toEqual([name, stat.isDirectory() ? 0o700 : 0o600]);
    }
    const answered = count(ann.id);
    await double.say({ chat: ann.id, text: 'still there?' });
    expect(await next(ann.id, answered)).toEqual(['You said: still there?']);
  });

  it('[D01] answers messages written during a crash once, without a new code', async () => {
    const { double, ann } = scene;
    const before = count(ann.id);
    // A normal run kills Parley every third day; on other days it is shut down gracefully.
    const apart = isDueToday(0, 3) ? await scene.startApart() : scene.parley;
    await apart.discard();
    await double.say({ chat: ann.id, text: 'are you there?' });
    await scene.startAgain();
    expect(await next(ann.id, before)).toEqual(['You said: are you there?']);
    await double.say({ chat: ann.id, text: 'good' });
    expect(await next(ann.id, before + 1)).toEqual(['You said: good']);
  });
});
