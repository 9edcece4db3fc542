import { describe, expect, it } from 'vitest';
import { TelegramSettings } from './settings.ts';

const token = '1:abc';

describe('the settings of a Telegram bot', () => {
  it('need only a token, and default to polling', () => {
    expect(TelegramSettings.parse({ token })).toEqual({
      token,
      apiRoot: 'https://api.telegram.org',
      localServer: false,
      growInGroups: true,
      linkPreviews: false,
      pace: true,
      richMessages: false,
    });
  });

  it.each<[string, object]>([
    ['without TLS', { url: 'http://bots.example.org/', secret: 'x'.repeat(16) }],
    ['without a secret', { url: 'https://bots.example.org/' }],
    ['with a short secret', { url: 'https://bots.example.org/', secret: 'x'.repeat(15) }],
    [
      'with a secret Telegram refuses',
      { url: 'https://bots.example.org/', secret: `${'x'.repeat(16)}!` },
    ],
  ])('[U03] reject a webhook %s', (_name, webhook) => {
    expect(TelegramSettings.safeParse({ token, webhook }).success).toBe(false);
  });

  it.each<[string, object, string]>([
    ["at Telegram's own address", { localServer: true }, 'apiRoot'],
    [
      'whose directory is relative',
      { localServer: true, apiRoot: 'http://h', localFiles: 'files' },
      'localFiles',
    ],
  ])('[F10] reject a local server %s', (_, more, field) => {
    const { error } = TelegramSettings.safeParse({ token, ...more });
    expect(error?.issues.map(({ path }) => path)).toEqual([[field]]);
  });
});
