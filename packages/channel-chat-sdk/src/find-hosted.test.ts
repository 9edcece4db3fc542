// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references are written like that.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findNearestWord, findPlainTextSecrets, loadSettings } from '@parley/settings';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { findHostedChannels } from './index.ts';

const telegram = z.strictObject({ token: z.string() });
const web = z.strictObject({ title: z.string().default('Parley') });
const lines = z.strictObject({ use: z.string() });

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-hosted-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function load(yaml: string, env: Record<string, string> = {}) {
  const file = join(folder, 'parley.yaml');
  writeFileSync(file, yaml);
  const result = loadSettings({
    ...{ file, env, dataFolder: '/data', modelSchema: z.literal('auto').default('auto') },
    modelChoices: () => new Map(),
    channelSchemas: { telegram, web, lines },
    channelIds: { telegram: undefined, web: undefined, lines: undefined },
    findHosted: (sections, own) =>
      findHostedChannels(sections, own, { env, nearestWord: findNearestWord }),
  });
  if (result.kind === 'invalid') throw new Error(JSON.stringify(result.problems, null, 2));
  return result;
}

/** The problems of an account, as `path: expected`. */
function wrong(result: ReturnType<typeof load>, account: string): readonly string[] {
  const found = result.channels[account];
  if (found?.kind !== 'broken') throw new Error(`expected ${account} to be broken`);
  return found.problems.map(({ path, expected }) => `${path}: ${expected}`);
}

const SLACK = "use: '@chat-adapter/slack', options: { botToken: '${TOKEN}', signingSecret: s1gn }";
const TOKEN = { TOKEN: 'xoxb-1234567890' };

describe('a channel whose settings name a package with `use`', () => {
  it('[F15] validates a channel with `use` like a built-in one, and accepts its name and ids throughout the settings', () => {
    const result = load(
      `owners: ['slack:<@U012AB3CD>']\nchannels: { slack: { ${SLACK}, access: { direct: open, allow: [U012AB3CE, 'slack:U012AB3CF', ann] } } }`,
      TOKEN,
    );
    expect(result.hosted).toEqual({ slack: '@chat-adapter/slack' });
    expect(result.settings.owners).toEqual(['slack:U012AB3CD']);
    expect(result.channels['slack/default']).toMatchObject({
      ...{ kind: 'ok', channel: 'slack', account: 'default' },
      access: { direct: 'open', groups: 'allowlist', allow: ['U012AB3CE', 'U012AB3CF', 'ann'] },
      settings: {
        use: '@chat-adapter/slack',
        options: { botToken: TOKEN.TOKEN, mode: 'webhook' },
      },
    });
    expect(result.warnings).toEqual([
      expect.objectContaining({ kind: 'no-effect', path: 'channels.slack.access.allow[2]' }),
    ]);
  });

  it('[F15] supports several accounts with the same package', () => {
    const result = load(`channels:
  slack:
    use: '@chat-adapter/slack'
    accounts:
      home: { options: { botToken: xoxb-1, appToken: xapp-1 } }
      work: { options: { botToken: xoxb-2 } }
`);
    expect(result.channels['slack/home']).toMatchObject({
      kind: 'ok',
      settings: { use: '@chat-adapter/slack', options: { mode: 'socket' } },
    });
    expect(wrong(result, 'slack/work')).toEqual([
      'channels.slack.accounts.work.options.appToken: the app-level token, such as ${SLACK_APP_TOKEN}, or signingSecret instead',
    ]);
  });

  it('[F15] warns about misspelled keys and options and suggests the correct ones', () => {
    const yaml = `channels: { slack: { ${SLACK.replace(' }', ', botUserid: U1 }')}, acess: {} } }`;
    expect(load(yaml, TOKEN).warnings).toEqual([
      expect.objectContaining({ path: 'channels.slack.options.botUserid', nearest: 'botUserId' }),
      expect.objectContaining({ path: 'channels.slack.acess', nearest: 'access' }),
    ]);
  });

  it('[F15] only warns if the package is not installed, and shows the command that installs it', () => {
    const mail = "channels: { mail: { use: '@resend/chat-sdk-adapter', options: { a: b }, ";
    const result = load(`${mail} } }`);
    expect(result.channels['mail/default']?.kind).toBe('ok');
    expect(result.warnings).toEqual([
      {
        ...{ kind: 'not-installed', path: 'channels.mail.use', nearest: undefined },
        found: '"@resend/chat-sdk-adapter"',
        expected:
          'a package that is installed; "npm install @resend/chat-sdk-adapter@latest" installs it',
        position: { line: 1, column: 26 },
      },
    ]);
    expect(load(`${mail} enabled: false } }`).warnings).toEqual([]);
  });

  it.each([
    ['@chat-adapter/slak', '@chat-adapter/slack'],
    ['slack', '@chat-adapter/slack'],
    ['@chat-sdk/teams', '@chat-adapter/teams'],
    ['google-chat', '@chat-adapter/gchat'],
    ['chat-adapter-slack', '@chat-adapter/slack'],
  ])(
    '[F15] suggests the intended adapter for a misspelled package instead of offering to install it: %s',
    (use, nearest) => {
      const result = load(`channels: { chat: { use: '${use}' } }`);
      const found = result.channels['chat/default'];
      expect(found).toMatchObject({ kind: 'broken', problems: [{ nearest }] });
      expect(JSON.stringify(found)).not.toContain('npm install');
    },
  );

  it.each(['@acme/hoot', 'chat-adapter-hoot', '@acme/chat-adapter'])(
    '[F15] accepts any other package: %s',
    (use) => {
      const { warnings, channels } = load(`channels: { chat: { use: '${use}', options: {} } }`);
      expect(channels['chat/default']?.kind).toBe('ok');
      expect(warnings).toMatchObject([{ kind: 'not-installed' }]);
    },
  );

  it.each([
    ['a built-in channel', "telegram: { use: '@acme/chat' }", 'absent, because telegram is a'],
    [
      'accounts of a built-in channel',
      "telegram: { use: '@acme/chat', accounts: { default: { token: a } } }",
      'absent, because telegram is a',
    ],
    ["Parley's channel for programs", "api: { use: '@acme/chat' }", 'below a name of'],
    ['a name in upper case', "Chat: { use: '@acme/chat' }", 'below a name of'],
    ['something other than a package', "chat: { use: '../chat' }", 'the npm package'],
    ['a list', 'chat: { use: [a] }', 'the npm package'],
    ['a store of state', "chat: { use: '@chat-adapter/state-redis' }", 'the package of a platform'],
    ["Chat SDK's own page", "chat: { use: '@chat-adapter/web' }", 'the package of a platform'],
  ])('[F15] [D12] marks only the account with the error as broken: %s', (_what, yaml, expected) => {
    const result = load(`channels: { ${yaml}, web: {} }`);
    const [name = ''] = yaml.split(':');
    expect(wrong(result, `${name}/default`)).toEqual([
      expect.stringContaining(`channels.${name}.use: ${expected}`),
    ]);
    expect(result.channels['web/default']?.kind).toBe('ok');
    expect(result.hosted).toEqual({});
  });

  it('[D12] reports a channel as disabled, not broken, if the settings disable it', () => {
    const { channels } = load('channels: { chat: { use: 5, enabled: false } }');
    expect(channels['chat/default']?.kind).toBe('disabled');
  });

  it('[D12] treats a section without `use` as an unknown channel and suggests a name', () => {
    const { channels, warnings } = load('channels: { telegrm: { options: {} } }');
    expect(channels).toEqual({});
    expect(warnings).toEqual([
      expect.objectContaining({ path: 'channels.telegrm', nearest: 'telegram' }),
    ]);
  });

  it("leaves a plugin's own `use` setting alone", () => {
    expect(load('channels: { lines: { use: tcp } }').channels['lines/default']).toMatchObject({
      kind: 'ok',
      settings: { use: 'tcp' },
    });
  });
});

describe('[F15] [G18] the secrets of a hosted channel', () => {
  const KEY = '-----BEGIN PRIVATE KEY-----\\nc2VjcmV0LWtleQ\\n-----END PRIVATE KEY-----';
  const file = `{"client_email":"bot@example.com","private_key":"${KEY}"}`;

  it.each<[string, string, Record<string, string>, string]>([
    ['in the file', `{ botToken: xoxb-in-the-file, signingSecret: abc }`, {}, 'xoxb-in-the-file'],
    ['in the environment', "{ botToken: '${T}' }", { T: 'xoxb-from-outside' }, 'xoxb-from-outside'],
  ])('are found if they are %s', (_where, options, env, secret) => {
    const yaml = `channels: { slack: { use: '@chat-adapter/slack', options: ${options} } }`;
    expect(load(yaml, env).secrets).toContain(secret);
  });

  it('are reported if the settings contain them in plain text', () => {
    load(`channels:
  slack: { use: '@chat-adapter/slack', options: { botToken: xoxb-1234567890, userName: helper } }
  chat: { use: '@chat-adapter/gchat', options: { credentials: '${file}' } }
  mail: { use: '@resend/chat-sdk-adapter', env: { RESEND_API_KEY: re_1234567890 } }
`);
    expect(findPlainTextSecrets(join(folder, 'parley.yaml'))).toEqual([
      'channels.slack.options.botToken (line 2)',
      'channels.chat.options.credentials (line 3)',
      'channels.mail.env.RESEND_API_KEY (line 4)',
    ]);
  });

  it("include the private key inside a service account's key file", () => {
    const yaml =
      "channels: { chat: { use: '@chat-adapter/gchat', options: { endpointUrl: 'https://a.b', credentials: '${KEY}' } } }";
    const { secrets, channels } = load(yaml, { KEY: file });
    expect(secrets).toEqual(expect.arrayContaining([file, KEY.replaceAll('\\n', '\n')]));
    expect(secrets).not.toContain('bot@example.com');
    expect(channels['chat/default']).toMatchObject({
      settings: { options: { credentials: { private_key: KEY.replaceAll('\\n', '\n') } } },
    });
  });

  it('include variables that the adapter itself reads from the environment', () => {
    const yaml = "channels: { mail: { use: '@resend/chat-sdk-adapter' } }";
    const env = { RESEND_API_KEY: 're_1234567890', RESEND_WEBHOOK_SECRET: 'whsec_1234567890' };
    const { secrets, channels } = load(yaml, { ...env, OTHER_KEY: 'not-of-this-adapter' });
    expect(secrets).toEqual(Object.values(env));
    expect(channels['mail/default']?.kind).toBe('ok');
  });

  it('include values that are given as variables', () => {
    const yaml =
      "channels: { mail: { use: '@resend/chat-sdk-adapter', env: { RESEND_API_KEY: re_1234567890, RESEND_WEBHOOK_SECRET: '${S}' } } }";
    expect(load(yaml, { S: 'whsec_1234567890' }).secrets).toEqual(
      expect.arrayContaining(['re_1234567890', 'whsec_1234567890']),
    );
  });
});
