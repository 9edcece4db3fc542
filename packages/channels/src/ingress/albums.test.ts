import type { InboundMessage } from '@parley/core';
import { CAPABILITIES } from '@parley/core/testing';
import { describe, expect, it } from 'vitest';
import { createMessage } from '../testing/ingress-scene.ts';
import { computeSettleTime, createAlbumTracker } from './albums.ts';
import { resolveReplyRoute } from './route.ts';

describe('an album in a group', () => {
  const picture = (change: object = {}) =>
    createMessage({ chat: { id: '-9', type: 'group' }, albumId: 'a', text: '', ...change });
  const admitted = (message: InboundMessage) => ({
    conversationId: 'c',
    message,
    route: resolveReplyRoute(message, CAPABILITIES, { mentions: 'dead', numbered: false }),
    receivedAt: 0,
  });

  it('[F06] [F08] is addressed as a whole as soon as one picture is addressed', () => {
    let now = 0;
    const { join } = createAlbumTracker(() => now);
    expect(join(picture()).addressed).toBe(false);
    expect(join(picture({ addressed: true })).addressed).toBe(true);
    expect(join(picture()).addressed).toBe(true);
    expect(join(picture({ albumId: 'b' })).addressed).toBe(false);
    expect(join(picture({ sender: { id: '7' } })).addressed).toBe(false);
    expect(join(picture({ chat: { id: '-8', type: 'group' } })).addressed).toBe(false);
    expect(join(picture({ albumId: undefined })).addressed).toBe(false);
    now = 60_000;
    expect(join(picture()).addressed).toBe(false);
  });

  it('[F08] returns the pictures that arrived before the text, once and in order', () => {
    const albums = createAlbumTracker(() => 0);
    for (const messageId of ['1', '2']) albums.hold(admitted(picture({ messageId })));
    albums.hold(admitted(picture({ messageId: '3', albumId: 'b' })));
    const ids = () => albums.release(picture()).map(({ message }) => message.messageId);
    expect(ids()).toEqual(['1', '2']);
    expect(ids()).toEqual([]);
  });
});

describe('how long ingress waits for the rest of a burst', () => {
  const target = { maxLength: 1_000 };
  it.each([
    ['an ordinary message', { text: 'hello' }, undefined],
    ['a picture alone', { text: '' }, undefined],
    ['a picture of an album', { text: '', albumId: 'a' }, 1_005],
    ['a text as long as the platform takes', { text: 'x'.repeat(1_000) }, 1_005],
    ['one cut at a word before that', { text: 'x'.repeat(900) }, 1_005],
    ['a long one of its own', { text: 'x'.repeat(899) }, undefined],
  ])('[F08] %s', (_case, message, expected) => {
    expect(computeSettleTime(message, target, 5)).toBe(expected);
  });
});
