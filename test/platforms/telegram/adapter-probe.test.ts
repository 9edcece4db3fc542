import { telegram } from '@parley/channel-telegram';
import {
  startTelegramDouble,
  type TelegramDouble,
  type TelegramDoubleOptions,
} from '@parley/simulators/telegram';
import { describe, expect, it, onTestFinished } from 'vitest';

async function openDouble(options: TelegramDoubleOptions = {}): Promise<TelegramDouble> {
  const double = await startTelegramDouble(options);
  onTestFinished(() => double.close());
  return double;
}

const probe = (settings: object, ms = 5_000, clock = Date.now, wantsPicture = false) =>
  telegram.probe(settings, { signal: AbortSignal.timeout(ms), clock, values: null, wantsPicture });

describe('a probe of a Telegram bot', () => {
  it('[U02] names the bot and reads the clock, even while a gateway is polling', async () => {
    const { apiRoot, token, calls } = await openDouble();
    const found = await probe({ token, apiRoot }, 5_000, () => Date.now() + 90_000);
    const clock = { server: new URL(apiRoot).host, aheadMs: expect.any(Number) };
    expect(found).toEqual({ kind: 'works', as: '@parley_test_bot', warnings: [], clock });
    expect(found.kind === 'works' && found.clock?.aheadMs).toBeGreaterThan(85_000);
    expect(calls().map(({ method }) => method)).toEqual(['getMe']);
  });

  it("[U02] fetches the bot's picture when requested, up to a limit, and works without one", async () => {
    const picture = Buffer.alloc(3_000, 7);
    const seen = async (bytes: Uint8Array<ArrayBuffer>, faulty = false) => {
      const double = await openDouble({ picture: bytes });
      if (faulty) double.fault({ kind: 'refuse', code: 400, description: 'no', method: 'getFile' });
      const { token, apiRoot } = double;
      const found = await probe({ token, apiRoot }, 5_000, Date.now, true);
      return found.kind === 'works' ? (found.picture ?? null) : found;
    };
    expect(await seen(picture)).toEqual(picture);
    expect(await seen(new Uint8Array(600_000))).toBeNull();
    expect(await seen(picture, true)).toBeNull();
  });

  it('[U02] says where to correct a wrong token, without showing it', async () => {
    const { apiRoot } = await openDouble();
    const found = await probe({ token: '9:wrong-token', apiRoot });
    expect(found).toMatchObject({ kind: 'problem', retryable: false });
    expect(found).toMatchObject({ reason: expect.stringContaining('refuses the bot token') });
    expect(found).toMatchObject({ fix: expect.stringContaining('channels.telegram.token') });
    expect(JSON.stringify(found)).not.toContain('wrong-token');
  });

  it('[U02] names the server that cannot be reached', async () => {
    const { apiRoot, token, close } = await openDouble();
    await close();
    const found = await probe({ token, apiRoot });
    expect(found).toMatchObject({ kind: 'problem', retryable: true });
    expect(found).toMatchObject({ fix: expect.stringContaining(new URL(apiRoot).host) });
    expect(JSON.stringify(found)).not.toContain(token);
  });

  it('[U02] ends at its deadline', async () => {
    const double = await openDouble();
    double.fault({ kind: 'hang', method: 'getMe' });
    const { token, apiRoot } = double;
    const found = await probe({ token, apiRoot }, 50);
    expect(found).toMatchObject({ reason: expect.stringContaining('no answer in time') });
  });

  it('[U02] warns about a webhook that Telegram cannot call while updates are waiting', async () => {
    const double = await openDouble({ webhookTarget: 'http://127.0.0.1:9/' });
    const webhook = { url: 'https://bot.example.org/', secret: 'a-secret-of-sixteen' };
    const { token, apiRoot } = double;
    const set = new URLSearchParams({ url: webhook.url, secret_token: webhook.secret });
    await fetch(`${apiRoot}/bot${token}/setWebhook?${set}`);
    double.say({ chat: { id: 7, type: 'private' }, from: { id: 7 }, text: 'hello' });
    const failed = async () => {
      const found = await probe({ token, apiRoot, webhook });
      return found.kind === 'works' && found.warnings[0];
    };
    await expect.poll(failed).toMatchObject({
      reason: expect.stringContaining('could not call the webhook'),
      fix: expect.stringContaining('webhook.url'),
    });
  });
});
