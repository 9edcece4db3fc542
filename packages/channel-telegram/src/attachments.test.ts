import { Attachment } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { listMessageAttachments } from './attachments.ts';
import { parseMessage } from './read-message.ts';
import { WireMessage } from './wire.ts';

const ME = { id: 7, username: 'Parley_Bot' };
const chat = { id: 5, type: 'private' };
const size = (file_id: string, width: number, height: number) => ({ file_id, width, height });
const clip = { file_id: 'f', file_size: 9, mime_type: 'video/mp4', duration: 1 };

describe('the attachments of a Telegram message', () => {
  it.each<[string, object, Attachment]>([
    [
      'a picture in its largest size',
      {
        photo: [size('s', 90, 60), { ...size('l', 1280, 853), file_size: 7 }, size('m', 320, 213)],
      },
      { kind: 'image', ref: 'l', mimeType: 'image/jpeg', size: 7 },
    ],
    [
      'a document',
      {
        document: { file_id: 'd', file_name: 'a.pdf', mime_type: 'application/pdf', file_size: 3 },
      },
      { kind: 'document', ref: 'd', name: 'a.pdf', mimeType: 'application/pdf', size: 3 },
    ],
    [
      'a document without any details',
      { document: { file_id: 'd' } },
      { kind: 'document', ref: 'd' },
    ],
    [
      'a voice note',
      { voice: { file_id: 'v', duration: 3 } },
      { kind: 'voice', ref: 'v', mimeType: 'audio/ogg' },
    ],
    [
      'a song',
      { audio: { file_id: 'a', file_name: 'a.mp3', mime_type: 'audio/mpeg' } },
      { kind: 'audio', ref: 'a', name: 'a.mp3', mimeType: 'audio/mpeg' },
    ],
    ['a video', { video: clip }, { kind: 'video', ref: 'f', mimeType: 'video/mp4', size: 9 }],
    [
      'a round video',
      { video_note: { file_id: 'n', length: 240 } },
      { kind: 'video', ref: 'n', mimeType: 'video/mp4' },
    ],
    [
      'an animation once, although it is a document too',
      { animation: clip, document: clip },
      { kind: 'video', ref: 'f', mimeType: 'video/mp4', size: 9 },
    ],
    [
      'a still sticker',
      { sticker: { file_id: 's', emoji: '👍' } },
      { kind: 'sticker', ref: 's', name: '👍', mimeType: 'image/webp' },
    ],
    [
      'a filmed sticker',
      { sticker: { file_id: 's', is_video: true } },
      { kind: 'sticker', ref: 's', mimeType: 'video/webm' },
    ],
  ])('[F10] are %s', (_name, fields, attachment) => {
    const message = WireMessage.parse({ message_id: 9, date: 1, chat, ...fields });
    expect(
      listMessageAttachments(parseMessage(message, ME)).map((file) => Attachment.parse(file)),
    ).toEqual([attachment]);
  });

  it('[F10] come from the replied-to message when the message itself has none', () => {
    const reply_to_message = { message_id: 3, photo: [size('asked', 9, 9)] };
    const refs = (fields: object) => {
      const message = { message_id: 9, date: 1, chat, text: 'what is this?', reply_to_message };
      return listMessageAttachments(
        parseMessage(WireMessage.parse({ ...message, ...fields }), ME),
      ).map(({ ref }) => ref);
    };
    expect(refs({})).toEqual(['asked']);
    expect(refs({ document: { file_id: 'own' } })).toEqual(['own']);
    expect(refs({ is_topic_message: true, message_thread_id: 3 })).toEqual([]);
  });

  it.each<[string, object]>([
    ['there is only text', { text: 'hi' }],
    ['a photo has no sizes', { photo: [] }],
    ['a sticker is animated by a program', { sticker: { file_id: 's', is_animated: true } }],
  ])('are empty when %s', (_name, fields) => {
    const message = { message_id: 9, date: 1, chat, ...fields };
    expect(listMessageAttachments(parseMessage(WireMessage.parse(message), ME))).toEqual([]);
  });
});
