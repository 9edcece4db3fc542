import { describe, expect, it } from 'vitest';
import { aMessage } from '../testing/a-message.ts';
import { createAlbums, settlesAt } from './burst.ts';

describe('until when more of a burst may arrive', () => {
  const target = { maxLength: 1_000 };
  it.each([
    ['an ordinary message', { text: 'hello' }, undefined],
    ['a picture alone', { text: '' }, undefined],
    ['a picture of an album', { text: '', albumId: 'a' }, 1_005],
    ['a text as long as the platform takes', { text: 'x'.repeat(1_000) }, 1_005],
    ['one cut at a word before that', { text: 'x'.repeat(900) }, 1_005],
    ['a long one of its own', { text: 'x'.repeat(899) }, undefined],
  ])('[F08] %s', (_case, message, expected) => {
    expect(settlesAt(message, target, 5)).toBe(expected);
  });
});

describe('an album in a group', () => {
  const picture = (change: object = {}) =>
    aMessage({ chat: { id: '-9', type: 'group' }, albumId: 'a', text: '', ...change });

  it('[F06] [F08] is addressed as a whole when its first picture is', () => {
    let now = 0;
    const join = createAlbums(() => now);
    expect(join(picture({ addressed: true })).addressed).toBe(true);
    expect(join(picture()).addressed).toBe(true);
    expect(join(picture({ albumId: 'b' })).addressed).toBe(false);
    expect(join(picture({ sender: { id: '7' } })).addressed).toBe(false);
    expect(join(picture({ chat: { id: '-8', type: 'group' } })).addressed).toBe(false);
    expect(join(picture({ albumId: undefined })).addressed).toBe(false);
    now = 60_000;
    expect(join(picture()).addressed).toBe(false);
  });
});
