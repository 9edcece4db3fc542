import { describe, expect, it } from 'vitest';
import { DiscordSettings } from './settings.ts';

const token = 'MTkw.abc_1.x-y';

describe('[D12] the settings of a Discord bot', () => {
  it('require only the token', () => {
    expect(DiscordSettings.parse({ token })).toEqual({
      token,
      messageContent: true,
      linkPreviews: false,
      threads: 'never',
      userInstall: 'portal',
      history: 0,
      shards: 'auto',
      apiRoot: 'https://discord.com/api',
    });
  });

  it.each([
    [{}, 'developer portal'],
    [{ token: '123456:ABC' }, 'Reset Token'],
    [{ token, shards: 0 }, ''],
    [{ token, apiRoot: 'ftp://h' }, 'http or https'],
    [{ token, intents: 1 }, 'intents'],
  ])('reject invalid values: %o', (settings, words) => {
    const result = DiscordSettings.safeParse(settings);
    expect(result.success).toBe(false);
    expect(result.error?.message).toContain(words);
  });
});
