import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDueToday } from '@parley/core/testing';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getMessageText, listImages } from '../model/chat-request.ts';
import { ANN, BO, GROUP, startTelegramScene, type TelegramScene } from './telegram-scene.ts';

const latin1 = (text: string) => Uint8Array.from(Buffer.from(text, 'latin1'));
const JPEG = latin1('\u00ff\u00d8\u00ff\u00e0 and pixels');
const PNG = latin1('\u0089PNG\r\n\u001a\n and pixels');
const OGG = latin1('OggS and sound');

let scene: TelegramScene;
beforeAll(async () => {
  scene = await startTelegramScene();
});
afterAll(() => scene.close());

const count = (chat: number) => scene.answers(chat).length;
const newest = () => scene.model.requests.at(-1)?.body.messages.at(-1);
/** Waits until the bot has sent `more` further messages in the chat, and returns them. */
const next = async (chat: number, before: number, more = 1, withinMs = 30_000) =>
  (await scene.untilAnswers(chat, before + more, withinMs)).slice(before);

describe('attachments on Telegram', () => {
  it('[F10] a picture reaches the model with its caption, and later turns mention the picture', async () => {
    const before = count(ANN);
    scene.telegram.say({ chat: ANN, text: 'what is it?', file: { kind: 'photo', bytes: JPEG } });
    expect(await next(ANN, before)).toEqual(['You said: what is it?']);
    expect(listImages(newest())).toEqual([{ mimeType: 'image/jpeg', bytes: JPEG }]);
    scene.telegram.say({ chat: ANN, text: 'are you sure?' });
    await next(ANN, before + 1);
    expect(listImages(newest())).toEqual([]);
    expect(JSON.stringify(scene.model.requests.at(-1)?.body)).toContain('[picture]');
  });

  it('[F10] a large photo is scaled to the maximum size for the model, and rotated upright', async () => {
    const before = count(ANN);
    const size = { width: 3_000, height: 2_000, channels: 3, background: '#486' } as const;
    const bytes = await sharp({ create: size }).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    scene.telegram.say({ chat: ANN, text: 'and this?', file: { kind: 'document', bytes } });
    await next(ANN, before);
    const [shown] = listImages(newest());
    const { width, height } = await sharp(shown?.bytes).metadata();
    expect({ width, height }).toEqual({ width: 1_045, height: 1_568 });
  });

  it('[F10] a document can be read further in a later turn', async () => {
    const before = count(ANN);
    const text = Array.from({ length: 8_000 }, (_, at) => String(at)).join(' ');
    const file = { kind: 'document', name: 'long.txt', bytes: latin1(text) } as const;
    scene.model.queue('It is long.');
    scene.telegram.say({ chat: ANN, text: 'read', file });
    await next(ANN, before);
    const id = /read_document reads it as "([\d-]+)"/.exec(getMessageText(newest()))?.[1];
    const call = { name: 'read_document', arguments: { file: id, offset: 38_000 } };
    scene.model.queue({ toolCalls: [call] }, 'It ends with 7999.');
    scene.telegram.say({ chat: ANN, text: 'how does it end?' });
    expect(await next(ANN, before + 1)).toEqual(['It ends with 7999.']);
    expect(getMessageText(newest())).toMatch(/are shown. This is its end..* 7998 7999\n<.outside/s);
  });

  it('[F08] [F10] an album leads to one turn with all its pictures', async () => {
    const before = count(BO);
    const asked = scene.model.total;
    const album = { chat: BO, album: 'a1' };
    scene.telegram.say({ ...album, text: 'both?', file: { kind: 'photo', bytes: JPEG } });
    scene.telegram.say({ ...album, file: { kind: 'photo', bytes: PNG } });
    await next(BO, before);
    expect(listImages(newest()).map(({ bytes }) => bytes)).toEqual([JPEG, PNG]);
    expect(scene.model.total).toBe(asked + 1);
  });

  it('[F10] a voice message is transcribed and answered like text', async () => {
    const before = count(ANN);
    scene.model.speech = 'when is the next train?';
    scene.telegram.say({ chat: ANN, file: { kind: 'voice', bytes: OGG, type: 'audio/ogg' } });
    expect((await next(ANN, before, 2))[0]).toContain('when is the next train?');
    expect(scene.model.heard).toEqual([{ model: 'ears', fileName: 'speech.ogg', bytes: OGG }]);
  });

  it('[F10] [G18] an answer to a voice message is sent as text and as a voice note, or only as text', async () => {
    const before = count(ANN);
    const notes = scene.telegram.calls('sendVoice').length;
    const voice = { kind: 'voice', bytes: OGG, type: 'audio/ogg' } as const;
    scene.model.queue('The next **train** goes at six.');
    scene.telegram.say({ chat: ANN, file: voice });
    expect(await next(ANN, before, 2)).toEqual(['The next train goes at six.', '']);
    const [note] = scene.telegram.conversation(ANN).slice(-1);
    expect(note?.file).toMatchObject({ name: 'voice.ogg', bytes: scene.model.voice });
    await scene.telegram.waitFor(() => scene.telegram.calls('sendVoice').length === notes + 1);
    const input = 'The next train goes at six.';
    const asked = { model: 'mouth', voice: 'alloy', input, response_format: 'opus' };
    expect(scene.model.spoken.at(-1)).toEqual(asked);
    scene.model.voice = null;
    scene.model.queue('At six.');
    scene.telegram.say({ chat: ANN, file: voice });
    expect(await next(ANN, before + 2)).toEqual(['At six.']);
    await scene.telegram.waitFor(() => scene.model.spoken.at(-1)?.input === 'At six.');
    expect(scene.telegram.calls('sendVoice')).toHaveLength(notes + 1);
    scene.model.voice = Uint8Array.from(OGG);
    const text = `Good night, ${scene.telegram.token}!`;
    const call = { name: 'speak', arguments: { text } };
    scene.model.queue({ toolCalls: [call] }, 'Said.');
    scene.telegram.say({ chat: ANN, text: 'say good night' });
    expect(await next(ANN, before + 3, 2)).toEqual(['', 'Said.']);
    // Secrets are removed from spoken text as well as from written text (G18).
    expect(scene.model.spoken.at(-1)?.input).toMatch(/^Good night, .+!$/);
    expect(scene.model.spoken.at(-1)?.input).not.toContain(scene.telegram.token);
  });

  it('[F10] a readable document is read, and an unreadable one is named', async () => {
    const before = count(ANN);
    const name = 'minutes.txt';
    const minutes = latin1('We agreed on tea.');
    scene.telegram.say({
      chat: ANN,
      text: 'sum up',
      file: { kind: 'document', name, bytes: minutes },
    });
    await next(ANN, before);
    expect(getMessageText(newest())).toMatch(
      /document "minutes.txt"\n---\nWe agreed on tea\.\n<\/file id/,
    );
    const broken = latin1('%PDF-1.7 and nothing more');
    const file = { kind: 'document', name: 'a.pdf', bytes: broken } as const;
    scene.telegram.say({ chat: ANN, text: 'and this?', file });
    const [answer, notice] = await next(ANN, before + 1, 2);
    expect(answer).toBe('You said: and this?');
    expect(notice).toBe(
      '⚙️ I could not read the document a.pdf: it is damaged or not what it seems to be.',
    );
  });

  it('[F10] a file that is too large is reported without being fetched', async () => {
    const before = count(ANN);
    const file = { kind: 'document', bytes: PNG, claimedSize: 2_000_000 } as const;
    scene.telegram.say({ chat: ANN, text: 'too much?', file });
    expect((await next(ANN, before, 2))[1]).toContain('larger than the 1 MB that I can accept');
    expect(listImages(newest())).toEqual([]);
  });

  it('[F10] [W09] the agent sends a picture from its workspace with a caption, but no private picture to a group', async () => {
    writeFileSync(join(scene.folder.path, 'workspace/chart.png'), PNG);
    const send = { name: 'send_file', arguments: { file: 'chart.png', caption: '**This week**' } };
    const before = count(ANN);
    scene.model.queue({ toolCalls: [send] }, 'That is all.');
    scene.telegram.say({ chat: ANN, text: 'how was the week?' });
    expect(await next(ANN, before, 2)).toEqual(['This week', 'That is all.']);
    const [picture] = scene.telegram.conversation(ANN).slice(-2);
    expect(picture?.file).toMatchObject({ name: 'chart.png' });
    expect(scene.telegram.calls('sendPhoto')).toHaveLength(1);
    scene.model.queue({ toolCalls: [send] }, 'I cannot.');
    const inGroup = count(GROUP);
    scene.telegram.say({
      chat: GROUP,
      from: ANN,
      text: '@parley_test_bot the chart!',
    });
    expect(await next(GROUP, inGroup)).toEqual(['I cannot.']);
    expect(scene.telegram.calls('sendPhoto')).toHaveLength(1);
  });

  it('[F04] the agent reacts to messages, and edits and deletes its own messages', async () => {
    const before = count(ANN);
    scene.model.queue('A first version');
    scene.telegram.say({ chat: ANN, text: 'write something' });
    await next(ANN, before);
    const calls = [
      { name: 'react', arguments: { emoji: '👍' } },
      { name: 'edit_message', arguments: { message: 1, text: 'A *second* version' } },
    ];
    scene.model.queue({ toolCalls: calls }, 'Better?');
    const question = scene.telegram.say({ chat: ANN, text: 'better, please' });
    await scene.telegram.waitFor(() => scene.answers(ANN).at(-1) === 'Better?');
    expect(scene.answers(ANN).slice(before)).toEqual(['A second version', 'Better?']);
    const [reacted] = scene.telegram.calls('setMessageReaction');
    expect(reacted?.params).toMatchObject({ message_id: question.message_id });
    scene.model.queue(
      { toolCalls: [{ name: 'delete_message', arguments: { message: 2 } }] },
      'It is gone.',
    );
    scene.telegram.say({ chat: ANN, text: 'delete the other one' });
    await scene.telegram.waitFor(() => scene.answers(ANN).at(-1) === 'It is gone.');
    expect(scene.answers(ANN).slice(before)).toEqual(['Better?', 'It is gone.']);
  });

  it('[F10] a file that cannot be fetched at first is fetched a little later', async () => {
    const before = count(ANN);
    scene.telegram.fault({ kind: 'status', status: 502, method: 'getFile' });
    scene.telegram.say({ chat: ANN, text: 'patience', file: { kind: 'photo', bytes: PNG } });
    await next(ANN, before, 1, 40_000);
    expect(listImages(newest()).map(({ bytes }) => bytes)).toEqual([PNG]);
  });

  it('[D01] [F10] a file that was being fetched during a crash is fetched after the restart', async () => {
    // A normal run kills Parley every third day; on other days it is shut down gracefully.
    const parley = isDueToday(1, 3) ? await scene.startApart() : scene.parley;
    const before = count(ANN);
    const asked = scene.model.total;
    const fetches = scene.telegram.calls('getFile').length;
    scene.telegram.fault({ kind: 'hang', method: 'getFile' });
    scene.telegram.say({ chat: ANN, text: 'still there?', file: { kind: 'photo', bytes: JPEG } });
    await scene.telegram.waitFor(() => scene.telegram.calls('getFile').length > fetches);
    await parley.discard();
    scene.telegram.clearFaults();
    await scene.startAgain();
    expect(await next(ANN, before, 1, 40_000)).toEqual(['You said: still there?']);
    expect(listImages(newest()).map(({ bytes }) => bytes)).toEqual([JPEG]);
    expect(scene.model.total).toBe(asked + 1);
  });
});
