import { describe, expect, it } from 'vitest';
import { WhatsAppSettings } from './settings.ts';

describe('the settings of a WhatsApp account', () => {
  it('do not require any values', () => {
    expect(WhatsAppSettings.parse({})).toEqual({
      url: 'wss://web.whatsapp.com/ws/chat',
      browser: 'Parley',
      readReceipts: true,
      pace: true,
    });
  });

  it.each(['ws://127.0.0.1:9/ws/chat', 'ws://localhost:9', 'ws://[::1]:9', 'wss://example.org/'])(
    'accept %s',
    (url) => {
      expect(WhatsAppSettings.parse({ url }).url).toBe(url);
    },
  );

  it.each(['+49 1512 345-6789', '0049 (1512) 3456789', 4_915_123_456_789])(
    '[U02] normalize the number %s to digits with the country code',
    (phone) => {
      expect(WhatsAppSettings.parse({ phone }).phone).toBe('4915123456789');
    },
  );

  it.each([
    [{ phone: '01512 3456789' }, 'a number such as'],
    [{ phone: '+49 ANN' }, 'a number such as'],
    [{ url: 'ws://example.org/' }, 'an address that begins with wss://'],
    [{ url: 'ws://127.0.0.1.example.org/' }, 'an address that begins with wss://'],
    [{ url: 'https://web.whatsapp.com' }, 'an address that begins with wss://'],
    [{ version: '2.3000' }, 'a version such as 2.3000.1027934701'],
    [{ browser: '' }, 'a name that is not empty'],
    [{ number: '491500000001' }, 'number'],
  ])('reject %o', (settings, words) => {
    expect(WhatsAppSettings.safeParse(settings).error?.message).toContain(words);
  });
});
