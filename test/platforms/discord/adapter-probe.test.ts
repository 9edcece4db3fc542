import { discord } from '@parley/channel-discord';
import { type DiscordDoubleOptions, startDiscordDouble } from '@parley/simulators/discord';
import { describe, expect, it, onTestFinished } from 'vitest';

async function openDouble(options: DiscordDoubleOptions = {}) {
  const double = await startDiscordDouble(options);
  onTestFinished(() => double.close());
  const { token, apiRoot } = double;
  return { double, settings: { token, apiRoot } };
}

const probe = (settings: object, clock = Date.now, wantsPicture = false) => {
  const signal = AbortSignal.timeout(5_000);
  return discord.probe(settings, { signal, clock, values: null, wantsPicture });
};

describe('a probe of a Discord bot', () => {
  it('[U02] names the bot, reads the clock, and does not use up a login', async () => {
    const { double, settings } = await openDouble();
    const found = await probe(settings, () => Date.now() - 90_000);
    const clock = { server: new URL(settings.apiRoot).host, aheadMs: expect.any(Number) };
    const invitation = expect.stringContaining(`client_id=${double.me.id}`);
    expect(found).toEqual({ kind: 'works', as: '@parley-test', warnings: [], clock, invitation });
    expect(found.kind === 'works' && found.clock?.aheadMs).toBeLessThan(-85_000);
    expect(double.gateway()).toMatchObject({ identifies: 0, connections: 0 });
  });

  it("[U02] fetches the bot's picture when requested, and works without one", async () => {
    const picture = Buffer.alloc(3_000, 7);
    const { settings } = await openDouble({ picture });
    expect(await probe(settings)).not.toHaveProperty('picture');
    expect(await probe(settings, Date.now, true)).toMatchObject({ picture });
    const large = await openDouble({ picture: new Uint8Array(600_000) });
    expect(await probe(large.settings, Date.now, true)).toMatchObject({ kind: 'works' });
    expect(await probe(large.settings, Date.now, true)).not.toHaveProperty('picture');
  });

  it('[U02] says how to replace an invalid token, without showing it', async () => {
    const { settings } = await openDouble();
    const found = await probe({ ...settings, token: 'wrong.token.here' });
    expect(found).toMatchObject({ kind: 'problem', reason: 'Discord refuses the bot token' });
    expect(found).toMatchObject({ fix: expect.stringContaining('Reset Token') });
    expect(JSON.stringify(found)).not.toContain('wrong.token');
  });

  it('[U02] says where to enable the Message Content Intent, unless the settings do not require it', async () => {
    const { settings } = await openDouble({ portalIntents: 0 });
    expect(await probe(settings)).toMatchObject({
      kind: 'problem',
      fix: expect.stringContaining('Privileged Gateway Intents'),
    });
    expect(await probe({ ...settings, messageContent: false })).toMatchObject({ kind: 'works' });
  });

  it('[U02] warns when hardly any logins are left', async () => {
    const { settings } = await openDouble({ sessionStarts: 3 });
    const reason = 'only 3 logins to Discord are left for today';
    expect(await probe(settings)).toMatchObject({ kind: 'works', warnings: [{ reason }] });
  });

  it('[U02] names the server that cannot be reached', async () => {
    const { double, settings } = await openDouble();
    await double.close();
    const { host } = new URL(settings.apiRoot);
    expect(await probe(settings)).toMatchObject({
      kind: 'problem',
      fix: expect.stringContaining(host),
      retryable: true,
    });
  });
});
