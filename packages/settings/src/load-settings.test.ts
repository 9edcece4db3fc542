// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references are written like that.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { SettingsProblem } from './index.ts';
import { loadSettings, SettingsError, type SettingsResult } from './index.ts';

const telegram = z.strictObject({
  token: z.string({ error: 'a bot token from @BotFather' }).min(10),
  apiRoot: z.url().default('https://api.telegram.org'),
  pollSeconds: z.int().default(25),
  silent: z.boolean().default(false),
});
const web = z.strictObject({ title: z.string().default('Parley') });
const modelSchema = z.strictObject({
  model: z
    .union([
      z.literal('auto'),
      z.strictObject({ provider: z.literal('local'), baseUrl: z.url(), apiKey: z.string() }),
      z.strictObject({ provider: z.literal('anthropic'), apiKey: z.string() }),
    ])
    .default('auto'),
});

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-settings-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function load(yaml: string | Buffer, env: Record<string, string> = {}) {
  const file = join(folder, 'parley.yaml');
  writeFileSync(file, yaml);
  return loadFile(file, env);
}

function loadFile(file: string, env: Record<string, string> = {}) {
  return loadSettings({
    file,
    env,
    dataFolder: '/data',
    channelSchemas: { telegram, web },
    modelSchema,
    defaultChannels: ['web'],
  });
}

function okay<T>(result: SettingsResult<T>) {
  if (result.kind === 'invalid') throw new Error(JSON.stringify(result.problems, null, 2));
  return result;
}

function problems<T>(result: SettingsResult<T>): readonly SettingsProblem[] {
  if (result.kind === 'ok') throw new Error('expected invalid settings');
  return result.problems;
}

function broken<T>(result: SettingsResult<T>, account: string): readonly SettingsProblem[] {
  const found = okay(result).channels[account];
  if (found?.kind !== 'broken') throw new Error(`expected ${account} to be broken`);
  return found.problems;
}

describe('loadSettings with nothing to read', () => {
  it.each([
    ['an empty file', ''],
    ['a file of comments', '# nothing yet\n'],
    [
      'sections whose lines are commented out',
      'agent:\n  # name: Ada\nchannels:\nlog:\n  level:\n',
    ],
  ])('[D12] takes %s as all defaults', (_what, yaml) => {
    const { settings, warnings, channels } = okay(load(yaml));
    expect(settings).toMatchObject({
      agent: { id: 'main', layout: 'parley', workspace: '/data/workspace' },
      model: { model: 'auto' },
      owners: [],
      lanes: { busy: 'collect', collectPauseMs: 500 },
      limits: { messageCharacters: 32_000, waitingPerConversation: 50 },
      http: { host: '127.0.0.1', port: 7411 },
      log: { level: 'info', format: 'auto' },
      queue: {},
      store: {},
    });
    expect(warnings).toEqual([]);
    expect(Object.keys(channels)).toEqual(['web/default']);
  });

  it('[D12] takes a missing file as all defaults, and says so', () => {
    const result = okay(loadFile(join(folder, 'none.yaml')));
    expect(result.origin).toBe('defaults');
    expect(result.settings).toEqual(okay(load('')).settings);
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

  it('[D12] says that a directory is not a file', () => {
    mkdirSync(join(folder, 'directory.yaml'));
    expect(code(join(folder, 'directory.yaml'))).toEqual([
      'settings-is-directory',
      expect.stringContaining('directory.yaml is a directory'),
    ]);
  });

  it('[D12] does not read 5 MB', () => {
    writeFileSync(join(folder, 'large.yaml'), 'a'.repeat(5_000_000));
    expect(code(join(folder, 'large.yaml'))).toEqual([
      'settings-too-large',
      expect.stringContaining('larger than 1,000,000 bytes'),
    ]);
  });

  it.each([
    ['not valid UTF-8 (first bad byte on line 2)', Buffer.from('a: 1\nb: \xe9', 'latin1')],
    ['saved as UTF-16', Buffer.from('\uFEFFagent:', 'utf16le')],
  ])('[D12] says that a file is %s', (message, bytes) => {
    writeFileSync(join(folder, 'bytes.yaml'), bytes);
    expect(code(join(folder, 'bytes.yaml'))).toEqual([
      'settings-encoding',
      expect.stringContaining(message),
    ]);
  });
});

describe('loadSettings with a file that is not YAML', () => {
  it('[D12] shows the place with a caret', () => {
    const [problem] = problems(load('channels:\n  telegram: token: x\n'));
    expect(problem).toMatchObject({ kind: 'syntax', position: { line: 2, column: 13 } });
    expect(problem?.excerpt).toBe(
      ['1 | channels:', '2 |   telegram: token: x', '  |             ^'].join('\n'),
    );
  });

  it('[D12] hides secrets on the lines it shows', () => {
    const [problem] = problems(load('    token: 123456:ABCDEF\n  x: y: z\n'));
    expect(problem?.excerpt).toContain('token: •••••••••••••');
    expect(JSON.stringify(problem)).not.toContain('ABCDEF');
  });

  it.each([
    ['a tab as indentation', 'agent:\n\tname: x\n', 'spaces'],
    ['a key written twice', 'log: {}\nlog: {}\n', 'written twice'],
    ['a list', '- a\n', 'lines of the form `key: value`'],
    ['a word', 'hello', 'lines of the form `key: value`'],
    ['two documents', 'a: 1\n---\nb: 2\n', 'one document'],
    ['a bomb of aliases', `a: &a [1,1]\nb: [${'*a,'.repeat(200)}]\n`, 'few aliases'],
    ['ten thousand brackets', '['.repeat(10_000), 'YAML'],
  ])('[D12] explains %s', (_what, yaml, words) => {
    expect(problems(load(yaml))[0]?.expected).toContain(words);
  });

  it('[D12] ends at a list that contains itself', () => {
    expect(problems(load('owners: &o [*o]\n'))[0]?.expected).toContain('at most 32 levels');
  });
});

describe('loadSettings with wrong values', () => {
  it('[D12] tells path, place, value, what is expected and the nearest valid value', () => {
    expect(problems(load('log:\n  level: inof\nhttp: { port: 99999 }\n'))).toEqual([
      {
        kind: 'value',
        path: 'log.level',
        position: { line: 2, column: 10 },
        found: '"inof"',
        expected: 'one of debug, info, warn, error, silent',
        nearest: 'info',
      },
      {
        kind: 'value',
        path: 'http.port',
        position: { line: 3, column: 15 },
        found: '99999',
        expected: 'a number of at most 65535',
      },
    ]);
  });

  it.each([
    ['agent: { timeZone: Europe/Berln }', 'agent.timeZone', 'Europe/Berlin'],
    ['model: { model: auot }', 'model.model', 'auto'],
    ['model: { model: { provider: antropic, apiKey: x } }', 'model.model.provider', 'anthropic'],
    ['lanes: { busy: collct }', 'lanes.busy', 'collect'],
  ])('[D12] %s: finds the value that was meant at %s', (yaml, path, meant) => {
    expect(problems(load(yaml))).toEqual([expect.objectContaining({ path, nearest: meant })]);
  });

  it.each([
    ['http: 7411', 'http', 'a block of `key: value` lines'],
    ['owners: [{ telegram: 1 }]', 'owners[0]', 'channel:userId without a space'],
    ['owners: [42]', 'owners[0]', 'channel:userId'],
    ['channels: [telegram]', 'channels', 'a block of channels'],
    ['limits: { messageCharacters: 1.5 }', 'limits.messageCharacters', 'a whole number'],
    ['queue: { url: "http://x" }', 'queue.url', 'a Redis URL'],
    ['model: { model: { provider: anthropic } }', 'model.model.apiKey', 'text'],
    ['model: auto', 'model', 'a block'],
  ])('[D12] %s: says at %s that it expects %s', (yaml, path, expected) => {
    const found = problems(load(yaml));
    expect(found).toEqual([expect.objectContaining({ path })]);
    expect(found[0]?.expected).toContain(expected);
  });

  it('[D12] shows no secret, wherever it stands', () => {
    const result = load(
      'model: { model: { provider: antropic, apiKey: [sk-very-secret] } }\nowners: ["${K}"]',
      {
        K: 'sk-env-secret',
      },
    );
    const text = JSON.stringify(problems(result));
    expect(text).not.toContain('very-secret');
    expect(text).not.toContain('env-secret');
    expect(result.secrets).toEqual(expect.arrayContaining(['sk-very-secret', 'sk-env-secret']));
  });

  it('[D12] reports broken channels too when the core is invalid, to be mended in one go', () => {
    const paths = problems(load('log: 1\nchannels: { telegram: {} }')).map((p) => p.path);
    expect(paths).toEqual(['log', 'channels.telegram.token']);
  });
});

describe('loadSettings with unknown keys', () => {
  it.each([
    ['lgo: { level: debug }', 'lgo', 'log'],
    ['agent: { nmae: Ada }', 'agent.nmae', 'name'],
    ['agent: { time_zone: UTC }', 'agent.time_zone', 'timeZone'],
    ['channels: { telegrm: { token: 1 } }', 'channels.telegrm', 'telegram'],
    ['channels: { web: { tilte: x } }', 'channels.web.tilte', 'title'],
    ['channels: { web: { acces: { direct: open } } }', 'channels.web.acces', 'access'],
    ['channels: { web: { access: { drect: open } } }', 'channels.web.access.drect', 'direct'],
    [
      'channels: { web: { accounts: { a: { titel: x } } } }',
      'channels.web.accounts.a.titel',
      'title',
    ],
    [
      'model: { model: { provider: anthropic, apiKey: k, apiKeyy: x } }',
      'model.model.apiKeyy',
      'apiKey',
    ],
  ])('[D12] warns of %s and names the nearest key', (yaml, path, meant) => {
    const { warnings } = okay(load(yaml));
    expect(warnings).toEqual([
      expect.objectContaining({ kind: 'unknown-key', path, nearest: meant }),
    ]);
  });

  it('[D12] warns without a guess when nothing is near, and never reads a reference there', () => {
    const { warnings } = okay(load('zebra: "${NOT_SET}"\n'));
    expect(warnings).toEqual([
      expect.objectContaining({ path: 'zebra', position: { line: 1, column: 1 } }),
    ]);
    expect(warnings[0]).not.toHaveProperty('nearest');
  });

  it('[D12] is not confused by keys that JavaScript knows', () => {
    const yaml =
      '__proto__: { port: 1 }\nconstructor: 1\nchannels: { toString: {}, __proto__: {} }\n';
    const { warnings } = okay(load(yaml));
    expect(warnings.map((warning) => warning.path)).toEqual([
      '__proto__',
      'constructor',
      'channels.toString',
      'channels.__proto__',
    ]);
  });
});

describe('loadSettings with references', () => {
  it('[D12] replaces variables, whole or within a text, and keeps ${ when doubled', () => {
    const yaml = 'agent: { name: "${A}-${B:-two}", role: "$${A}", emoji: "${C:-x}" }\n';
    const { settings } = okay(load(yaml, { A: 'one', C: '' }));
    expect(settings.agent).toMatchObject({ name: 'one-two', role: '${A}', emoji: 'x' });
  });

  it('[D12] reads numbers and truth values from the environment where such are expected', () => {
    const yaml = `http: { port: "\${PORT}" }
channels: { telegram: { enabled: "\${ON}", token: "\${T}", pollSeconds: "\${S:-7}", silent: "\${Q}" } }`;
    const { settings, channels } = okay(
      load(yaml, { PORT: '8080', ON: 'true', T: '1234567890', Q: 'TRUE' }),
    );
    expect(settings.http.port).toBe(8080);
    expect(channels['telegram/default']).toMatchObject({
      settings: { token: '1234567890', pollSeconds: 7, silent: true },
    });
  });

  it('[D12] reports a missing variable at its place, with the one that was meant', () => {
    const result = load('http:\n  host: "${HOSTT}"\n', { HOST: 'x' });
    expect(problems(result)).toEqual([
      {
        kind: 'reference',
        path: 'http.host',
        position: { line: 2, column: 9 },
        found: '${HOSTT}',
        expected: 'the environment variable HOSTT to be set',
        nearest: 'HOST',
      },
    ]);
  });

  it.each([
    ['${EMPTY}', 'EMPTY not to be empty'],
    ['${}', 'write $${ for a literal'],
    ['${a b}', 'write $${ for a literal'],
    ['${OPEN', 'write $${ for a literal'],
    ['${file:/nonexistent/secret}', 'the file /nonexistent/secret to exist'],
    ['${file:/}', 'is a directory'],
    ['${toString}', 'toString to be set'],
  ])('[D12] explains %s', (reference, words) => {
    const [problem, ...more] = problems(load(`http: { host: '${reference}' }`, { EMPTY: '' }));
    expect(problem).toMatchObject({ kind: 'reference', path: 'http.host', found: reference });
    expect(problem?.expected).toContain(words);
    expect(more).toEqual([]);
  });

  it('[D12] shows of a secret nothing but its references', () => {
    const yaml = 'channels: { telegram: { token: "12345:abc${NOT_SET}def" } }';
    expect(broken(load(yaml), 'telegram/default')[0]?.found).toBe('…${NOT_SET}…');
  });

  it('[D12] reads secret files beside the settings, trimmed', () => {
    writeFileSync(join(folder, 'token.txt'), '123456:from-a-file\n');
    const result = okay(load('channels: { telegram: { token: "${file:token.txt}" } }'));
    expect(result.channels['telegram/default']).toMatchObject({
      settings: { token: '123456:from-a-file' },
    });
    expect(result.secrets).toEqual(['123456:from-a-file']);
  });

  it('[D10] lists as secret what comes from outside, what is named so, and passwords in URLs', () => {
    const yaml = `
agent: { name: "\${NAME}" }
queue: { url: "redis://user:red-pass@localhost" }
store: { url: "postgres://u:\${PG}@localhost/db" }
model: { model: { provider: local, baseUrl: "http://x", apiKey: in-the-file } }
channels: { telegram: { token: "1234567890", apiRoot: "\${ROOT}" } }`;
    const result = okay(load(yaml, { NAME: 'Ada', PG: 'pg-pass', ROOT: 'https://root.example' }));
    expect(result.secrets.toSorted()).toEqual([
      '1234567890',
      'https://root.example',
      'in-the-file',
      'pg-pass',
      'red-pass',
    ]);
  });
});

describe('loadSettings with channels', () => {
  it('[F05] [F06] closes access and waits for a mention unless told otherwise', () => {
    const { channels } = okay(load('channels: { telegram: { token: "1234567890" } }'));
    expect(channels['telegram/default']).toEqual({
      kind: 'ok',
      channel: 'telegram',
      account: 'default',
      access: { direct: 'allowlist', groups: 'allowlist', allow: [], allowGroups: [] },
      activation: 'mention',
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
    expect(okay(load(yaml)).channels['web/default']).toMatchObject({
      access: { allow: ['42', '1234567890123456789'], allowGroups: ['-100123'] },
    });
  });

  it('[D12] isolates a broken channel: the others run', () => {
    const result = load('channels:\n  telegram:\n    token: 5\n  web: {}\n');
    expect(broken(result, 'telegram/default')).toEqual([
      {
        kind: 'value',
        path: 'channels.telegram.token',
        position: { line: 3, column: 12 },
        found: '(hidden)',
        expected: 'a bot token from @BotFather',
      },
    ]);
    expect(okay(result).channels['web/default']?.kind).toBe('ok');
  });

  it('[D12] isolates a broken account: the others of the same channel run', () => {
    const yaml = `channels:
  telegram:
    accounts:
      home: { token: "1234567890" }
      work: { token: "\${WORK_TOKEN}" }
      off: { enabled: false, token: "\${NEVER_SET}" }
      Bad Name: { token: "1234567890" }
      bare:
`;
    const { channels } = okay(load(yaml));
    expect(Object.values(channels).map((c) => `${c.channel}/${c.account} ${c.kind}`)).toEqual([
      'web/default ok',
      'telegram/home ok',
      'telegram/work broken',
      'telegram/off disabled',
      'telegram/Bad Name broken',
      'telegram/bare broken',
    ]);
    expect(broken(load(yaml), 'telegram/work')).toEqual([
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
      'one of allowlist, open, disabled',
    ],
  ])('[D12] %s breaks that channel alone, at %s', (yaml, path, expected) => {
    const found = broken(load(yaml), 'telegram/default');
    expect(found).toEqual([expect.objectContaining({ path })]);
    expect(found[0]?.expected).toContain(expected);
  });

  it('[F05] refuses access rules beside accounts rather than ignore them', () => {
    const yaml =
      'channels: { telegram: { access: { direct: disabled }, accounts: { a: { token: "1234567890" } } } }';
    expect(broken(load(yaml), 'telegram/a')).toEqual([
      expect.objectContaining({ path: 'channels.telegram.access' }),
    ]);
  });

  it('[D12] runs a default channel unless the file switches it off', () => {
    expect(okay(load('channels: { web: { enabled: false } }')).channels['web/default']).toEqual({
      kind: 'disabled',
      channel: 'web',
      account: 'default',
    });
  });

  it('finds the workspace from the settings file and from the home folder', () => {
    const workspace = (written: string) =>
      okay(load(`agent: { workspace: '${written}' }`)).settings.agent.workspace;
    expect(workspace('notes')).toBe(join(folder, 'notes'));
    expect(workspace('/srv/notes')).toBe('/srv/notes');
    expect(workspace('~/notes')).not.toContain('~');
  });
});
