// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references are written like that.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { HostChannel } from './hosted.ts';
import { loadSettings } from './load-settings.ts';
import { broken, okay, settingsSchemas } from './testing/settings-folder.ts';

const id = {
  expected: 'an id such as U1',
  howToFind: 'Ask',
  normalize: (written: string) => (/^u\d+$/i.test(written) ? written.toUpperCase() : null),
};
const ids = { person: id, group: id, direct: id, role: null, thread: null };
const schema = z.strictObject({
  options: z.strictObject({ botToken: z.string({ error: 'a bot token' }) }),
});

/** Three adapters: one that is installed, one that is not, and one that cannot be hosted. */
const hostChannel: HostChannel = (use) => {
  if (use === '@acme/state') return { kind: 'refused', expected: 'a platform' };
  const remarks =
    use === '@acme/absent'
      ? [{ kind: 'not-installed' as const, expected: 'a package installed by "npm i"' }]
      : [];
  return { kind: 'hosted', schema, ids, remarks, secrets: ['s3cret-of-the-environment'] };
};

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-hosted-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function load(yaml: string, env: Record<string, string> = {}) {
  const file = join(folder, 'parley.yaml');
  writeFileSync(file, yaml);
  const channelIds = { telegram: undefined, web: undefined };
  return loadSettings({
    ...settingsSchemas,
    ...{ file, env, dataFolder: '/data', channelIds, hostChannel },
  });
}

const CHAT = "use: '@acme/chat', options: { botToken: '${TOKEN}' }";
const TOKEN = { TOKEN: 'xoxb-1234567890' };

describe('a channel whose settings name a package with `use`', () => {
  it('[F15] is checked like any other, and its name and ids count everywhere in the settings', () => {
    const result = okay(
      load(
        `owners: ['chat:u7']\nchannels: { chat: { ${CHAT}, access: { direct: open, allow: [u8, 'chat:u9'] } } }`,
        TOKEN,
      ),
    );
    expect(result.hosted).toEqual({ chat: '@acme/chat' });
    expect(result.settings.owners).toEqual(['chat:U7']);
    expect(result.channels['chat/default']).toMatchObject({
      ...{ kind: 'ok', channel: 'chat', account: 'default' },
      access: { direct: 'open', groups: 'allowlist', allow: ['U8', 'U9'] },
      settings: { options: { botToken: 'xoxb-1234567890' } },
    });
    expect(result.channels['chat/default']).not.toHaveProperty('settings.use');
    expect(result.secrets).toEqual(
      expect.arrayContaining(['xoxb-1234567890', 's3cret-of-the-environment']),
    );
    expect(result.warnings).toEqual([]);
  });

  it('[F15] [F05] has several accounts below the same package', () => {
    const yaml = `channels:
  chat:
    use: '@acme/chat'
    accounts:
      home: { options: { botToken: a } }
      work: { options: {}, use: '@acme/other' }
`;
    const result = okay(load(yaml));
    expect(result.channels['chat/home']).toMatchObject({ kind: 'ok' });
    expect(broken(result, 'chat/work')).toEqual([
      expect.objectContaining({ path: 'channels.chat.accounts.work.options.botToken' }),
    ]);
    expect(result.warnings).toEqual([
      expect.objectContaining({ path: 'channels.chat.accounts.work.use', kind: 'unknown-key' }),
    ]);
  });

  it('[F15] warns about a misspelt key and suggests the right one', () => {
    const { warnings } = okay(
      load("channels: { chat: { use: '@acme/chat', options: { botToken: a }, acess: {} } }"),
    );
    expect(warnings).toEqual([
      expect.objectContaining({ path: 'channels.chat.acess', nearest: 'access' }),
    ]);
  });

  it('[F15] is only warned about while its package is not installed', () => {
    const absent = "channels: { chat: { use: '@acme/absent', options: { botToken: a }, ";
    const result = okay(load(`${absent} } }`));
    expect(result.channels['chat/default']?.kind).toBe('ok');
    expect(result.warnings).toEqual([
      {
        ...{ kind: 'not-installed', path: 'channels.chat.use' },
        ...{ found: '"@acme/absent"', expected: 'a package installed by "npm i"' },
        position: { line: 1, column: 26 },
      },
    ]);
    expect(okay(load(`${absent} enabled: false } }`)).warnings).toEqual([]);
  });

  it.each([
    ['a built-in channel', "telegram: { use: '@acme/chat' }", 'telegram is a channel'],
    [
      'accounts of a built-in channel',
      "telegram: { use: '@acme/chat', accounts: { default: { token: '1234567890' } } }",
      'telegram is a channel',
    ],
    ["Parley's channel for programs", "api: { use: '@acme/chat' }", 'below a name of'],
    ['a name in upper case', "Chat: { use: '@acme/chat' }", 'below a name of'],
    ['something other than a package', "chat: { use: '../chat' }", 'the npm package'],
    ['a list', 'chat: { use: [a] }', 'the npm package'],
    ['a package that is no platform', "chat: { use: '@acme/state' }", 'a platform'],
  ])('[F15] [D12] breaks only its own account on %s', (_what, yaml, expected) => {
    const result = okay(load(`channels: { ${yaml}, web: {} }`));
    const [name = ''] = yaml.split(':');
    const found = broken(result, `${name}/default`);
    expect(found).toEqual([expect.objectContaining({ path: `channels.${name}.use` })]);
    expect(found[0]?.expected).toContain(expected);
    expect(result.channels['web/default']?.kind).toBe('ok');
    expect(result.hosted).toEqual({});
  });

  it('[D12] is disabled, not broken, if its settings say so', () => {
    const { channels } = okay(load('channels: { chat: { use: 5, enabled: false } }'));
    expect(channels['chat/default']?.kind).toBe('disabled');
  });

  it('[D12] without `use` remains an unknown name, with a suggestion', () => {
    const { channels, warnings } = okay(load('channels: { telegrm: { options: {} } }'));
    expect(channels).toEqual({});
    expect(warnings).toEqual([
      expect.objectContaining({ path: 'channels.telegrm', nearest: 'telegram' }),
    ]);
  });

  it('leaves a plugin its own setting of that name', () => {
    const file = join(folder, 'plugin.yaml');
    writeFileSync(file, 'channels: { lines: { use: tcp } }');
    const lines = z.strictObject({ use: z.string() });
    const result = okay(
      loadSettings({
        ...{ ...settingsSchemas, file, env: {}, dataFolder: '/data', hostChannel },
        channelSchemas: { lines },
      }),
    );
    expect(result.channels['lines/default']).toMatchObject({
      kind: 'ok',
      settings: { use: 'tcp' },
    });
  });
});
