import { describe, expect, it } from 'vitest';
import { WhatsAppSettings } from './settings.ts';

describe('settings of a WhatsApp account', () => {
  it('need nothing', () => {
    expect(WhatsAppSettings.parse({})).toEqual({
      url: 'wss://web.whatsapp.com/ws/chat',
      browser: 'Parley',
      pace: true,
    });
  });

  it.each(['ws://127.0.0.1:9/ws/chat', 'ws://localhost:9', 'ws://[::1]:9', 'wss://example.org/'])(
    'take %s',
    (url) => {
      expect(WhatsAppSettings.parse({ url }).url).toBe(url);
    },
  );

  it.each([
    [{ url: 'ws://example.org/' }, 'must begin with wss://'],
    [{ url: 'ws://127.0.0.1.example.org/' }, 'must begin with wss://'],
    [{ url: 'https://web.whatsapp.com' }, 'must be a wss address'],
    [{ version: '2.3000' }, 'must look like 2.3000.1027934701'],
    [{ browser: '' }, 'must not be empty'],
    [{ number: '491500000001' }, 'number'],
  ])('refuse %o', (settings, words) => {
    expect(WhatsAppSettings.safeParse(settings).error?.message).toContain(words);
  });
});
