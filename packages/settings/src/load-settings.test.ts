import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SettingsError } from './settings-file.ts';
import { createSettingsFolder, getProblems, getValidSettings } from './testing/settings-folder.ts';

const { load, loadFile, path } = createSettingsFolder();
/** A Chinese comment and a name, as Windows Notepad saves them in GB18030. */
const GBK = Buffer.from('2320b9d9b7bdc5e4d6c3cec4bcfea3acc7ebd0deb8c4c3fbd7d60a', 'hex');

describe('loadSettings without settings', () => {
  it.each([
    ['an empty file', ''],
    ['a file of comments', '# nothing yet\n'],
    [
      'sections whose lines are commented out',
      'agent:\n  # name: Ada\nchannels:\nlog:\n  level:\n',
    ],
  ])('[D12] uses all defaults for %s', (_what, yaml) => {
    const { settings, warnings, channels } = getValidSettings(load(yaml));
    expect(settings).toMatchObject({
      agent: { id: 'main', workspace: '/data/workspace' },
      model: 'auto',
      owners: [],
      lanes: { busy: 'collect', collectPauseMs: 500 },
      limits: { messageCharacters: 32_000, waitingPerConversation: 50, totalWaiting: 50_000 },
      http: { host: '127.0.0.1', port: 7411 },
      log: { level: 'info', format: 'auto' },
      queue: { prefix: 'parley' },
      store: {},
    });
    expect(warnings).toEqual([]);
    expect(Object.keys(channels)).toEqual(['web/default']);
  });

  it('[D12] uses all defaults for a missing file, and reports the missing file', () => {
    const result = getValidSettings(loadFile(path('none.yaml')));
    expect(result.origin).toBe('defaults');
    expect(result.settings).toEqual(getValidSettings(load('')).settings);
  });
});

describe('loadSettings with a file that cannot be read', () => {
  const code = (file: string) => {
    try {
      loadFile(file);
    } catch (error) {
      if (error instanceof SettingsError) return [error.code, error.message];
    }
    return 'no SettingsError';
  };

  it('[D12] reports that a directory is not a file', () => {
    mkdirSync(path('directory.yaml'));
    expect(code(path('directory.yaml'))).toEqual([
      'settings-is-directory',
      expect.stringContaining('directory.yaml is a directory'),
    ]);
  });

  it('[D12] does not read a file of 5 MB', () => {
    writeFileSync(path('large.yaml'), 'a'.repeat(5_000_000));
    expect(code(path('large.yaml'))).toEqual([
      'settings-too-large',
      expect.stringContaining('larger than 1,000,000 bytes'),
    ]);
  });

  it.each([
    ['not valid UTF-8 (first bad byte on line 2)', Buffer.from('a: 1\nb: \xe9', 'latin1')],
    ['it seems to be gb18030', GBK],
  ])('[D12] reports that a file is %s', (message, bytes) => {
    writeFileSync(path('bytes.yaml'), bytes);
    expect(code(path('bytes.yaml'))).toEqual([
      'settings-encoding',
      expect.stringContaining(message),
    ]);
  });
});

describe('loadSettings with a file that is not UTF-8', () => {
  it.each([
    [
      'UTF-16 with a byte order mark, as PowerShell writes it',
      Buffer.from('\uFEFFowners: []', 'utf16le'),
    ],
    ['UTF-16 without a byte order mark', Buffer.from('owners: [] # Jürgen\n', 'utf16le')],
    ['UTF-8 with a byte order mark', Buffer.from('\uFEFFowners: []')],
  ])('[W10] reads %s', (_what, bytes) => {
    writeFileSync(path('wide.yaml'), bytes);
    expect(getValidSettings(loadFile(path('wide.yaml'))).warnings).toEqual([]);
  });
});

describe('loadSettings with a file that is not YAML', () => {
  it('[D12] shows the position with a caret', () => {
    const [problem] = getProblems(load('channels:\n  telegram: token: x\n'));
    expect(problem).toMatchObject({ kind: 'syntax', position: { line: 2, column: 13 } });
    expect(problem?.excerpt).toBe(
      ['1 | channels:', '2 |   telegram: token: x', '  |             ^'].join('\n'),
    );
  });

  it('[D12] hides secrets in the lines that it shows', () => {
    const [problem] = getProblems(load('    token: 123456:ABCDEF\n  x: y: z\n'));
    expect(problem?.excerpt).toContain('token: •••••••••••••');
    expect(JSON.stringify(problem)).not.toContain('ABCDEF');
  });

  it.each([
    ['a tab as indentation', 'agent:\n\tname: x\n', 'Tabs are not allowed as indentation'],
    ['a key written twice', 'log: {}\nlog: {}\n', 'Map keys must be unique'],
    ['a list', '- a\n', 'lines of the form `key: value`'],
    ['a word', 'hello', 'lines of the form `key: value`'],
    ['two documents', 'a: 1\n---\nb: 2\n', 'one document'],
    ['a bomb of aliases', `a: &a [1,1]\nb: [${'*a,'.repeat(200)}]\n`, 'few aliases'],
    ['ten thousand brackets', '['.repeat(10_000), 'YAML'],
  ])('[D12] explains %s', (_what, yaml, words) => {
    expect(getProblems(load(yaml))[0]?.expected).toContain(words);
  });

  it('[D12] stops at a list that contains itself', () => {
    expect(getProblems(load('owners: &o [*o]\n'))[0]?.expected).toContain('at most 32 levels');
  });
});
