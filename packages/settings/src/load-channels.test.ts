// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references are written like that.
import { describe, expect, it } from 'vitest';
import {
  createSettingsFolder,
  getAccountProblems,
  getValidSettings,
} from './testing/settings-folder.ts';

const { load, path } = createSettingsFolder();

describe('loadSettings with channels', () => {
  it('[F05] [F06] [M05] by default closes access, waits for a mention and does not notify anyone', () => {
    const { channels } = getValidSettings(load('channels: { telegram: { token: "1234567890" } }'));
    expect(channels['telegram/default']).toEqual({
      kind: 'ok',
      channel: 'telegram',
      account: 'default',
      access: {
        direct: 'pairing',
        pairing: { characters: 8, minutes: 60, pending: 3 },
        groups: 'allowlist',
        allow: [],
        allowGroups: [],
        groupCommands: 'administrators',
        allowRoles: [],
      },
      activation: 'mention',
      answers: { mentions: 'dead', numbered: false, editSeconds: 1 },
      whenUncertain: 'notify',
      settings: {
        token: '1234567890',
        apiRoot: 'https://api.telegram.org',
        pollSeconds: 25,
        silent: false,
      },
    });
  });

  it('[F05] keeps every digit of a platform id that is written as a number', () => {
    const yaml =
      'channels: { web: { access: { allow: [42, 1234567890123456789], allowGroups: [-100123] } } }';
    expect(getValidSettings(load(yaml)).channels['web/default']).toMatchObject({
      access: { allow: ['42', '1234567890123456789'], allowGroups: ['-100123'] },
    });
  });

  it('[D12] isolates a broken channel while the other channels run', () => {
    const result = load('channels:\n  telegram:\n    token: 5\n  web: {}\n');
    expect(getAccountProblems(result, 'telegram/default')).toEqual([
      {
        kind: 'value',
        path: 'channels.telegram.token',
        position: { line: 3, column: 12 },
        found: '(hidden)',
        expected: 'a bot token from @BotFather',
      },
    ]);
    expect(getValidSettings(result).channels['web/default']?.kind).toBe('ok');
  });

  it("[D12] isolates a broken account while the channel's other accounts run", () => {
    const yaml = `channels:
  telegram:
    accounts:
      home: { token: "1234567890" }
      work: { token: "\${WORK_TOKEN}" }
      off: { enabled: false, token: "\${NEVER_SET}" }
      Bad Name: { token: "1234567890" }
      bare:
`;
    const { channels } = getValidSettings(load(yaml));
    expect(Object.values(channels).map((c) => `${c.channel}/${c.account} ${c.kind}`)).toEqual([
      'web/default ok',
      'telegram/home ok',
      'telegram/work broken',
      'telegram/off disabled',
      'telegram/Bad Name broken',
      'telegram/bare broken',
    ]);
    expect(getAccountProblems(load(yaml), 'telegram/work')).toEqual([
      expect.objectContaining({
        kind: 'reference',
        path: 'channels.telegram.accounts.work.token',
        found: '${WORK_TOKEN}',
      }),
    ]);
  });

  it.each([
    ['channels: { telegram: yes please }', 'channels.telegram', 'a block'],
    ['channels: { telegram: { accounts: [a] } }', 'channels.telegram.accounts', 'a block'],
    ['channels: { telegram: }', 'channels.telegram.token', 'a bot token'],
    [
      'channels: { telegram: { token: "1234567890", access: { direct: opne } } }',
      'channels.telegram.access.direct',
      'one of pairing, allowlist, open, disabled',
    ],
  ])('[D12] %s breaks only that channel, at %s', (yaml, path, expected) => {
    const found = getAccountProblems(load(yaml), 'telegram/default');
    expect(found).toEqual([expect.objectContaining({ path })]);
    expect(found[0]?.expected).toContain(expected);
  });

  it('[F05] refuses access rules next to accounts instead of ignoring them', () => {
    const yaml =
      'channels: { telegram: { access: { direct: disabled }, accounts: { a: { token: "1234567890" } } } }';
    expect(getAccountProblems(load(yaml), 'telegram/a')).toEqual([
      expect.objectContaining({ path: 'channels.telegram.access' }),
    ]);
  });

  it('[D12] runs a default channel unless the file disables it', () => {
    expect(
      getValidSettings(load('channels: { web: { enabled: false } }')).channels['web/default'],
    ).toEqual({
      kind: 'disabled',
      channel: 'web',
      account: 'default',
    });
  });

  it('resolves the workspace path relative to the settings file and to the home folder', () => {
    const workspace = (written: string) =>
      getValidSettings(load(`agent: { workspace: '${written}' }`)).settings.agent.workspace;
    expect(workspace('notes')).toBe(path('notes'));
    expect(workspace('/srv/notes')).toBe('/srv/notes');
    expect(workspace('~/notes')).not.toContain('~');
  });
});
