import { describe, expect, it } from 'vitest';
import { buildFileUrl } from './files.ts';

describe('the download URL of a file', () => {
  it.each([
    [
      'https://api.telegram.org',
      'photos/a b.jpg',
      'https://api.telegram.org/file/bot1:t/photos/a%20b.jpg',
    ],
    ['http://h/proxy', 'x', 'http://h/proxy/file/bot1:t/x'],
    ['http://h/proxy/', 'x?y#z', 'http://h/proxy/file/bot1:t/x%3Fy%23z'],
  ])('[F10] appends the file path to the server: %s %s', (apiRoot, path, address) => {
    expect(buildFileUrl(apiRoot, '1:t', path)?.href).toBe(address);
  });

  it.each(['/var/lib/bot/a.jpg', '../getMe', 'a/../../b', 'a//b', 'C:\\a', ''])(
    '[F10] is undefined when the path is %s',
    (path) => {
      expect(buildFileUrl('http://h', '1:t', path)).toBeUndefined();
    },
  );
});
