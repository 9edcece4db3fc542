import { describe, expect, it } from 'vitest';
import { canFetchUrl, formatFileRef, isUrlExpired, parseFileRef } from './files.ts';

const API = 'https://discord.com/api';
const TEST_API = 'http://127.0.0.1:8082/api';

describe('[F10] the reference of a file', () => {
  it('is parsed back to the original value', () => {
    const whole = { url: 'https://h/a?b=c', channelId: '1', messageId: '2', fileId: '3' };
    expect(parseFileRef(formatFileRef(whole))).toEqual(whole);
    expect(parseFileRef(formatFileRef({ url: 'https://h/a' }))).toEqual({ url: 'https://h/a' });
    expect(parseFileRef('file:///etc/passwd')).toBeUndefined();
  });

  it.each([
    ['https://cdn.discordapp.com/attachments/1/2/a?ex=1', API, true],
    ['https://media.discordapp.net/stickers/1.png', API, true],
    ['https://images-ext-1.discordapp.net/external/x/https/pic.example/c.png', API, true],
    ['https://images-ext-1.discordapp.com/c.png', API, false],
    ['https://pic.example/c.png', API, false],
    ['http://cdn.discordapp.com/a', API, false],
    ['https://cdn.discordapp.com:444/a', API, false],
    ['https://user@cdn.discordapp.com/a', API, false],
    ['https://cdn.discordapp.com.evil.example/a', API, false],
    ['https://discord.com/a', API, false],
    ['http://127.0.0.1:8082/attachments/a', API, false],
    ['http://127.0.0.1:8082/attachments/a', TEST_API, true],
    ['http://127.0.0.1:8083/attachments/a', TEST_API, false],
    ['http://10.0.0.1/api/a', 'http://10.0.0.1/api', false],
    ['nonsense', API, false],
  ])('allows a download from %s if the API is at %s: %s', (url, api, allowed) => {
    expect(canFetchUrl(url, api)).toBe(allowed);
  });

  it('expires at the time in its signature', () => {
    expect(isUrlExpired('https://h/a?ex=10&hm=x', 15_999)).toBe(false);
    expect(isUrlExpired('https://h/a?ex=10&hm=x', 16_000)).toBe(true);
    expect(isUrlExpired('https://h/a', 16_000)).toBe(false);
  });
});
