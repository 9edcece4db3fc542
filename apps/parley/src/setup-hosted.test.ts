import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemTime } from '@parley/core';
import { openSecrets } from '@parley/core/telemetry/scrubber';
import { CHANNEL_DEFINITIONS } from '@parley/gateway';
import { findPlainTextSecrets } from '@parley/settings';
import { type SlackDouble, startSlackDouble } from '@parley/simulators/slack';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { locateDataFolder } from './data-folder.ts';
import { readSettings } from './settings.ts';
import { Setup } from './setup-steps.ts';

describe('[U02] [F15] setting up a platform with a Chat SDK adapter', () => {
  let path: string;
  let slack: SlackDouble;
  beforeAll(async () => {
    slack = await startSlackDouble();
  });
  afterAll(() => slack?.close());
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'parley-setup-'));
  });
  afterEach(() => rmSync(path, { recursive: true }));

  const file = () => join(path, 'parley.yaml');
  const written = () => readFileSync(file(), 'utf8');
  const secret = (name: string) => readFileSync(join(path, 'secrets', name), 'utf8').trim();
  const secrets = openSecrets([]);

  function steps(): Setup {
    const folder = locateDataFolder(path, {});
    return new Setup({
      ...{ folder, env: {}, ...systemTime, secrets },
      definitions: CHANNEL_DEFINITIONS,
      loaded: readSettings(folder, {}),
      model: { line: () => 'offline' },
      store: { pairing: { pending: async () => [], settle: async () => {} } },
    });
  }

  /** The settings file of an installation with Slack on the loopback interface. */
  const SLACK_HERE = () => `# mine
http: { publicUrl: "https://parley.example.org/" }
channels:
  slack:
    use: '@chat-adapter/slack'
    options: { apiUrl: "${slack.apiUrl}" }
    access: { direct: open }
`;

  it('offers the tested platforms first, each with the address that it calls', async () => {
    writeFileSync(file(), 'http: { publicUrl: "https://parley.example.org/" }\n');
    const { platforms } = await steps().state();
    expect(platforms.map(({ id }) => id).slice(0, 10)).toEqual([
      ...['telegram', 'discord', 'whatsapp', 'slack', 'teams', 'google-chat'],
      ...['github', 'linear', 'whatsapp-cloud', 'agentphone'],
    ]);
    const found = platforms.find(({ id }) => id === 'slack');
    expect(found?.webhook).toBe('https://parley.example.org/channels/slack/default/');
    expect(
      found?.fields?.map(({ key, isSecret, isOptional }) => [key, isSecret, isOptional]),
    ).toEqual([
      ['botToken', true, false],
      ['appToken', true, true],
      ['signingSecret', true, true],
    ]);
    expect(platforms.map(({ id }) => id)).not.toContain('gmail');
    expect(platforms.find(({ id }) => id === 'resend')).toMatchObject({
      ...{ name: 'Resend', isUntested: true },
      fields: [
        { key: 'RESEND_API_KEY', isSecret: true, isOptional: false },
        { key: 'RESEND_WEBHOOK_SECRET', isSecret: true, isOptional: false },
      ],
    });
  });

  it('names the bot and the address to enter on the platform', async () => {
    writeFileSync(file(), SLACK_HERE());
    const { botToken, signingSecret } = slack;
    const options = { botToken, signingSecret };
    const answer = await steps().tryChannel({ channel: 'slack', options });
    expect(answer).toMatchObject({ kind: 'works' });
    expect(answer).toMatchObject({
      text: expect.stringMatching(
        /^It is @\w+ in \w+\. The address that Slack calls: https:\/\/parley\.example\.org\/channels\/slack\/default\/\.$/,
      ),
    });
    expect(secrets.scrub(`${botToken} ${signingSecret}`)).not.toContain(botToken);
    expect(written()).toBe(SLACK_HERE());
  });

  it('tests an account under `accounts` with the server from its options', async () => {
    const account = `    accounts: { default: { options: { apiUrl: "${slack.apiUrl}" } } }`;
    writeFileSync(file(), SLACK_HERE().replace(/^ {4}options.*$/m, account));
    const { botToken, signingSecret } = slack;
    const options = { botToken, signingSecret };
    const answer = await steps().tryChannel({ channel: 'slack', options });
    expect(answer).toMatchObject({ kind: 'works', text: expect.stringMatching(/^It is @/) });
  });

  it('reports a missing public address, but only if the platform calls it', async () => {
    writeFileSync(file(), SLACK_HERE().replace(/^http.*\n/m, ''));
    const { botToken, signingSecret, appToken } = slack;
    const called = await steps().tryChannel({
      channel: 'slack',
      options: { botToken, signingSecret },
    });
    expect(called).toMatchObject({ text: expect.stringContaining('set http.publicUrl') });
    const socket = await steps().tryChannel({ channel: 'slack', options: { botToken, appToken } });
    expect(socket).toMatchObject({ kind: 'works' });
    expect(JSON.stringify(socket)).not.toContain('publicUrl');
  });

  it.each<[string, Record<string, string>, RegExp]>([
    ['a missing one', {}, /^Bot token: it must be the bot token, such as/],
    ['one of another kind', { botToken: 'xoxp-1' }, /^Bot token: it must be a bot token, which/],
    [
      'a refused one',
      { botToken: 'xoxb-wrong', signingSecret: 'a' },
      /^Slack refuses the bot token/,
    ],
  ])('names the secret to correct by its label: %s', async (_what, options, reason) => {
    writeFileSync(file(), SLACK_HERE());
    const answer = await steps().tryChannel({ channel: 'slack', options });
    expect(answer).toMatchObject({ kind: 'problem', reason: expect.stringMatching(reason) });
  });

  it('writes each secret into a separate file, and keeps the rest of the settings', async () => {
    writeFileSync(file(), SLACK_HERE());
    const { botToken, signingSecret, appToken } = slack;
    const first = { channel: 'slack', options: { botToken, signingSecret } };
    expect(await steps().saveChannel(first)).toEqual({
      kind: 'done',
      text: 'Saved. The address that Slack calls: https://parley.example.org/channels/slack/default/.',
    });
    expect(secret('slack-bot-token')).toBe(botToken);
    expect(secret('slack-signing-secret')).toBe(signingSecret);
    const loaded = readSettings(locateDataFolder(path, {}), {});
    expect(loaded.channels['slack/default']).toMatchObject({
      ...{ kind: 'ok', access: { direct: 'open' } },
      settings: { options: { apiUrl: slack.apiUrl, botToken, signingSecret, mode: 'webhook' } },
    });
    expect(loaded.secrets).toEqual(expect.arrayContaining([botToken, signingSecret]));
    expect(written()).toContain('# mine');
    expect(findPlainTextSecrets(file())).toEqual([]);

    const socket = { channel: 'slack', options: { botToken, appToken } };
    expect(await steps().saveChannel(socket)).toEqual({ kind: 'done', text: 'Saved.' });
    const again = readSettings(locateDataFolder(path, {}), {}).channels['slack/default'];
    expect(again).toMatchObject({ settings: { options: { mode: 'socket' } } });
    expect(again).not.toHaveProperty('settings.options.signingSecret');
  });

  it('works with an empty settings file, and leaves no secrets behind if the settings are refused', async () => {
    writeFileSync(file(), '# mine\n');
    const options = { token: 'ghp_1', webhookSecret: 'w', userName: 'helper' };
    const save = (given: Record<string, string>) =>
      steps().saveChannel({ channel: 'github', options: given });
    expect(await save({ ...options, token: '' })).toMatchObject({ kind: 'problem' });
    expect(await save({ webhookSecret: 'w' })).toMatchObject({ kind: 'problem' });
    expect(written()).toBe('# mine\n');
    expect(readdirSync(join(path, 'secrets'))).toEqual([]);
    expect(await save(options)).toMatchObject({ kind: 'done' });
    expect(written()).toContain('use: "@chat-adapter/github"');
    expect(written()).toContain('userName: helper');
    expect(readdirSync(join(path, 'secrets')).toSorted()).toEqual([
      'github-token',
      'github-webhook-secret',
    ]);
  });

  it('passes the variables of an untested adapter on, and shows the command that installs it', async () => {
    const options = { RESEND_API_KEY: 're_1234567890', RESEND_WEBHOOK_SECRET: 'whsec_1234567890' };
    const tried = await steps().tryChannel({ channel: 'resend', options });
    expect(tried).toMatchObject({
      text: expect.stringContaining('npm install @resend/chat-sdk-adapter@latest'),
    });
    expect(await steps().saveChannel({ channel: 'resend', options })).toMatchObject({
      kind: 'done',
    });
    const { channels, warnings } = readSettings(locateDataFolder(path, {}), {});
    expect(channels['resend/default']).toMatchObject({ kind: 'ok', settings: { env: options } });
    expect(warnings).toMatchObject([{ kind: 'not-installed' }]);
    expect(secret('resend-api-key')).toBe('re_1234567890');
  });

  it('refuses an unknown platform', async () => {
    const order = { channel: 'icq', token: 'a' };
    expect(await steps().saveChannel(order)).toMatchObject({ kind: 'problem' });
    expect(await steps().tryChannel(order)).toMatchObject({ kind: 'problem' });
  });
});
