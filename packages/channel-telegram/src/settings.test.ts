import { describe, expect, it } from 'vitest';
import { TelegramSettings } from './settings.ts';

const token = '1:abc';

describe('the settings of a Telegram bot', () => {
  it('are a token; Parley asks Telegram for messages', () => {
    expect(TelegramSettings.parse({ token })).toEqual({
      token,
      apiRoot: 'https://api.telegram.org',
      growInGroups: true,
      linkPreviews: false,
      pace: true,
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
  ])('[U03] take no webhook %s', (_name, webhook) => {
    expect(TelegramSettings.safeParse({ token, webhook }).success).toBe(false);
  });
});
