import { once } from 'node:events';
import { createServer } from 'node:http';
import { createChatSdkChannel } from '@parley/channel-chat-sdk';
import { startSlackDouble } from '@parley/simulators/slack';
import { describe, expect, it, onTestFinished } from 'vitest';
import { GitHubDouble } from './doubles/github.ts';
import { LinearDouble } from './doubles/linear.ts';
import { WhatsAppCloudDouble } from './doubles/whatsapp-cloud.ts';

async function opened<Double extends { close(): Promise<unknown> }>(double: Promise<Double>) {
  const open = await double;
  onTestFinished(async () => void (await open.close()));
  return open;
}

function probe(use: string, options: object, ms = 5_000) {
  const env = { signal: AbortSignal.timeout(ms), clock: Date.now, values: null };
  return createChatSdkChannel('hosted', use).probe({ options }, env);
}

const GUID = '01234567-89ab-cdef-0123-456789abcdef';
const HOOK = { webhookSecret: 'w', userName: 'parley-bot' };

/** Valid and invalid options for each platform with a probe. */
const ASKED: Readonly<Record<string, () => Promise<Asked>>> = {
  Slack: async () => {
    const { apiUrl, botToken, signingSecret } = await opened(startSlackDouble());
    const options = { apiUrl, botToken, signingSecret };
    return {
      use: '@chat-adapter/slack',
      options,
      as: /^@\w+ in \w+/,
      wrong: { ...options, botToken: 'xoxb-wrong-secret' },
      refusal: /Slack refuses the bot token \(invalid_auth\)/,
    };
  },
  GitHub: async () => {
    const { apiUrl, token } = await opened(new GitHubDouble().start());
    const options = { ...HOOK, apiUrl, token };
    return {
      use: '@chat-adapter/github',
      options,
      as: /^@parley-bot$/,
      wrong: { ...options, token: 'wrong-secret' },
      refusal: /GitHub refuses the token \(status 401\)/,
    };
  },
  'a GitHub App': async () => {
    const { apiUrl, app } = await opened(new GitHubDouble().start());
    const { id: appId, privateKey } = app;
    const options = { ...HOOK, userName: 'parley', apiUrl, appId, privateKey };
    const pem = '-----BEGIN PRIVATE KEY-----\nwrong-secret\n-----END PRIVATE KEY-----';
    return {
      use: '@chat-adapter/github',
      options,
      as: /^@parley$/,
      wrong: { ...options, privateKey: pem },
      refusal: /the private key cannot be used/,
    };
  },
  Linear: async () => {
    const { apiUrl, apiKey } = await opened(new LinearDouble().start());
    const options = { ...HOOK, apiUrl, apiKey };
    return {
      use: '@chat-adapter/linear',
      options,
      as: /^@\S+ in Acme$/,
      wrong: { ...options, apiKey: 'wrong-secret' },
      refusal: /Linear refuses the API key \(status 401\)/,
    };
  },
  'WhatsApp Cloud': async () => {
    const double = await opened(new WhatsAppCloudDouble().start());
    const { apiUrl, accessToken, appSecret, phoneNumberId, verifyToken } = double;
    const options = { apiUrl, accessToken, appSecret, phoneNumberId, verifyToken };
    return {
      use: '@chat-adapter/whatsapp',
      options,
      as: /^Parley \(\+1 555-078-3881\)$/,
      wrong: { ...options, accessToken: 'wrong-secret' },
      refusal: /Meta refuses the access token/,
    };
  },
};

interface Asked {
  readonly use: string;
  readonly options: object;
  readonly as: RegExp;
  readonly wrong: object;
  readonly refusal: RegExp;
}

describe('[F15] a probe of a hosted channel', () => {
  it.each(Object.entries(ASKED))('[U02] names the bot of %s', async (_name, open) => {
    const { use, options, as } = await open();
    expect(await probe(use, options)).toEqual({
      ...{ kind: 'works', as: expect.stringMatching(as), warnings: [] },
      clock: expect.objectContaining({ aheadMs: expect.any(Number) }),
    });
  });

  it.each(Object.entries(ASKED))(
    '[U02] says how to fix secrets that %s refuses, without showing them',
    async (_name, open) => {
      const { use, wrong, refusal } = await open();
      const found = await probe(use, wrong);
      const reason = expect.stringMatching(refusal);
      expect(found).toMatchObject({ kind: 'problem', retryable: false, reason });
      expect(JSON.stringify(found)).not.toContain('wrong-secret');
    },
  );

  it('[U02] warns about a name with which people cannot mention the bot', async () => {
    const { apiUrl, token } = await opened(new GitHubDouble().start());
    const options = { ...HOOK, userName: 'helper', apiUrl, token };
    expect(await probe('@chat-adapter/github', options)).toMatchObject({
      warnings: [{ fix: 'Set userName to parley-bot.' }],
    });
  });

  it('[U02] names the unreachable server, but never a secret', async () => {
    const slack = { botToken: 'xoxb-secret', signingSecret: 'a' };
    const away = await probe('@chat-adapter/slack', { ...slack, apiUrl: 'http://127.0.0.1:9/api' });
    expect(away).toMatchObject({
      ...{ kind: 'problem', retryable: true },
      fix: expect.stringContaining('127.0.0.1:9'),
    });
    // A header must not contain this character.
    const odd = await probe('@chat-adapter/slack', { ...slack, botToken: 'xoxb-secret€' });
    expect(odd).toMatchObject({ kind: 'problem' });
    expect(JSON.stringify([away, odd])).not.toContain('xoxb-secret');
  });

  it('[D13] ends at its deadline', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    onTestFinished(() => void silent.close());
    await once(silent, 'listening');
    const apiUrl = `http://127.0.0.1:${Object(silent.address()).port}/api`;
    const options = { apiUrl, botToken: 'xoxb-1', signingSecret: 'a' };
    expect(await probe('@chat-adapter/slack', options, 200)).toMatchObject({ kind: 'problem' });
  });

  it.each([
    ['@chat-adapter/teams', { appId: GUID, appPassword: 'a' }],
    ['@chat-adapter/gchat', { useApplicationDefaultCredentials: true, endpointUrl: 'https://a.b' }],
    ['@chat-adapter/telegram', { botToken: 'a' }],
  ])('[U02] does not probe a platform that has no cheap request: %s', async (use, options) => {
    expect(await probe(use, options)).toMatchObject({ kind: 'unknown' });
  });

  it('[U02] names the package to install if it is missing', async () => {
    expect(await probe('@acme/absent-adapter', {})).toMatchObject({
      ...{ kind: 'problem', retryable: false },
      reason: expect.stringContaining('@acme/absent-adapter, which is not installed'),
      fix: expect.stringContaining('npm install @acme/absent-adapter@latest'),
    });
  });
});
