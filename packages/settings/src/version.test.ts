import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { changeSettingsText } from './change-text.ts';
import { parseSettings, upgradeSettings } from './document.ts';
import { getNewestVersion, SETTINGS_STEPS, type SettingsMigration } from './settings-steps.ts';
import { describeProblem } from './source.ts';
import { createSettingsFolder, getProblems, getValidSettings } from './testing/settings-folder.ts';

const { load, path } = createSettingsFolder();
const NEWEST = getNewestVersion(SETTINGS_STEPS);

const STEPS: readonly SettingsMigration[] = [
  { to: 2, edits: [{ kind: 'move', from: ['log', 'verbosity'], to: ['log', 'level'] }] },
  {
    to: 3,
    edits: [
      { kind: 'move', from: ['port'], to: ['http', 'port'] },
      {
        kind: 'change',
        at: ['log', 'level'],
        value: (level) => (level === 'loud' ? 'debug' : level),
      },
    ],
  },
];

const OLD = `# Mine.

log:
  # for a while
  verbosity: loud # until it works
# the usual one
port: 7000 # do not change
owners: [telegram:1]
`;

describe('the settings version', () => {
  it('[D12] upgrades a file without a version to the current one', () => {
    expect(getValidSettings(load('log:\n  level: warn\n')).settings.version).toBe(NEWEST);
  });

  it.each([
    ['version: 9 # Parley 7.3.0\nnewkey: 1\nowners: 5\n', 'written for Parley 7.3.0'],
    ['newkey: 1\nversion: 9\n', 'written for a newer Parley'],
  ])(
    '[D12] refuses a file from a newer Parley with instructions, and does not check other keys',
    (yaml, by) => {
      const [problem, ...others] = getProblems(load(yaml));
      expect(others).toEqual([]);
      const text = problem === undefined ? '' : describeProblem(problem);
      expect(text).toMatch(/^version is from a newer version .*\(line \d, column 10\)/);
      expect(text).toContain('found:    9');
      expect(text).toContain(by);
      expect(text).toContain('Update Parley, or start it with another file (--config FILE)');
    },
  );

  it('[D12] reports a version that is not a number in the same way as other problems', () => {
    expect(getProblems(load('version: new\n'))).toMatchObject([{ kind: 'value', path: 'version' }]);
  });

  it('[D12] upgrades a file from an older Parley in memory, step by step, with positions kept', () => {
    const document = parseSettings(OLD, STEPS);
    if (document.kind === 'broken') throw new Error('broken');
    expect(document.value).toEqual({
      version: 3,
      log: { level: 'debug' },
      owners: ['telegram:1'],
      http: { port: 7000 },
    });
    expect(document.locate(['http', 'port'], 'value')).toEqual({ line: 7, column: 7 });
  });

  it.each([
    ['version: 2\nport: 7000\n', { version: 3, http: { port: 7000 } }],
    ['port: 1\nhttp: { port: 2 }\n', { version: 3, port: 1, http: { port: 2 } }],
    ['http:\nport: 1\n', { version: 3, http: { port: 1 } }],
    ['# nothing\n', { version: 3 }],
    ['version: 3\nport: 1\n', { version: 3, port: 1 }],
  ])('[D12] decides which steps are applied: %j', (yaml, value) => {
    const document = parseSettings(yaml, STEPS);
    expect(document.kind === 'document' && document.value).toEqual(value);
  });
});

describe('upgrading the settings file', () => {
  it('[D12] writes the upgraded text with all comments, and keeps the old file next to it', () => {
    const file = path('old.yaml');
    writeFileSync(file, OLD, { mode: 0o600 });
    const upgraded = upgradeSettings(file, STEPS);
    const kept = `${file}.version-1`;
    const renamed = ['log.verbosity → log.level', 'port → http.port', 'log.level: loud → debug'];
    expect(upgraded).toEqual({ kind: 'upgraded', from: 1, to: 3, renamed, kept });
    const text = readFileSync(file, 'utf8');
    for (const comment of OLD.match(/#.*/g) ?? []) expect(text).toContain(comment);
    expect(text).toMatch(/^version: 3 # Parley \d/m);
    expect(parseSettings(text, STEPS)).toMatchObject({
      value: { log: { level: 'debug' }, http: { port: 7000 } },
    });
    expect(readFileSync(`${file}.version-1`, 'utf8')).toBe(OLD);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(upgradeSettings(file, STEPS)).toEqual({ kind: 'current' });
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it.each([
    ['current', `version: ${NEWEST}\nlog: {}\n`],
    ['newer', 'version: 9 # Parley 7.3.0\n'],
    ['broken', 'a: [\n'],
  ])('[D12] does not change a %s file', (kind, text) => {
    const file = path(`${kind}.yaml`);
    writeFileSync(file, text);
    expect(upgradeSettings(file)).toMatchObject({ kind });
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it('[D12] does nothing when the settings file does not exist', () => {
    expect(upgradeSettings(path('none.yaml'))).toEqual({ kind: 'missing' });
  });
});

/** Names from version 1, each with a value that is not the default, and their current paths. */
const VERSION_1 = `agent: { prompt: { filesInAll: 11000 } }
agents:
  support: { workspace: w, heartbeat: { tell: "telegram:1", upkeepNotes: 3 }, prompt: { filesInAll: 12000 } }
channels:
  telegram: { token: "1:a", whenUncertain: tell }
  discord: { accounts: { one: { token: b, whenUncertain: tell }, two: { token: c, whenUncertain: resend } } }
cron: { leastMinutes: 7 }
heartbeat: { tell: "telegram:1", quietCharacters: 10, upkeepNotes: 4 }
hooks:
  ci: { does: job, instruction: Say it. }
  bell: { does: heartbeat }
http: { sessions: { longestDays: 9 } }
limits: { waitingInAll: 99, subAgents: { atOnce: 2 }, answer: { thoughtCharacters: 5000 } }
media: { pictureSide: 800 }
`;

describe('setting names from version 1', () => {
  it('[D12] are read under the names of version 2, including those of each agent, hook and account', () => {
    const document = parseSettings(VERSION_1);
    if (document.kind === 'broken') throw new Error('broken');
    expect(document.value).toEqual({
      version: NEWEST,
      agent: { prompt: { totalFileCharacters: 11_000 } },
      agents: {
        support: {
          workspace: 'w',
          heartbeat: { notify: 'telegram:1', memoryUpkeepDays: 3 },
          prompt: { totalFileCharacters: 12_000 },
        },
      },
      channels: {
        telegram: { token: '1:a', whenUncertain: 'notify' },
        discord: {
          accounts: {
            one: { token: 'b', whenUncertain: 'notify' },
            two: { token: 'c', whenUncertain: 'resend' },
          },
        },
      },
      cron: { minMinutes: 7 },
      heartbeat: { notify: 'telegram:1', quietMaxCharacters: 10, memoryUpkeepDays: 4 },
      hooks: { ci: { action: 'job', instruction: 'Say it.' }, bell: { action: 'heartbeat' } },
      http: { sessions: { maxDays: 9 } },
      limits: {
        totalWaiting: 99,
        subAgents: { concurrent: 2 },
        answer: { reasoningCharacters: 5_000 },
      },
      media: { maxImageDimension: 800 },
    });
    expect(document.locate(['heartbeat', 'notify'], 'value')?.line).toBe(8);
  });

  it('[D12] are reported in a file of version 2, with the current name', () => {
    const { warnings } = getValidSettings(load('version: 2\nheartbeat: { tell: last }\n'));
    expect(warnings).toMatchObject([
      { kind: 'unknown-key', path: 'heartbeat.tell', nearest: 'notify' },
    ]);
  });

  it('[D12] are kept if the new name is next to the old one', () => {
    const { settings, warnings } = getValidSettings(
      load('heartbeat: { tell: last, notify: "telegram:1" }\n'),
    );
    expect(settings.heartbeat.notify).toBe('telegram:1');
    expect(warnings).toMatchObject([{ path: 'heartbeat.tell', nearest: 'notify' }]);
  });

  it('[D12] are rewritten to the names of version 2 when the page changes a setting', () => {
    const text = '# Mine.\nheartbeat:\n  tell: last # for now\n  steps: 5\n';
    const changed = changeSettingsText(text, [
      { kind: 'set', path: ['heartbeat', 'notify'], value: 'telegram:1' },
    ]);
    if (changed.kind === 'refused') throw new Error('refused');
    expect(parseSettings(changed.text)).toMatchObject({
      value: { version: NEWEST, heartbeat: { notify: 'telegram:1', steps: 5 } },
    });
    expect(changed.text).toContain('# Mine.');
    expect(changed.text).not.toContain('tell');
  });
});
