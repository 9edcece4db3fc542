import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { changeSettingsText } from './change-text.ts';
import {
  editSettings,
  findAccountPath,
  findLastCopy,
  type SettingsChange,
  undoSettings,
} from './edit-settings.ts';
import { createSettingsTemplate } from './load-settings.ts';
import { describeProblem } from './source.ts';
import { createSettingsFolder, getValidSettings } from './testing/settings-folder.ts';

const { path, load, loadFile } = createSettingsFolder();
const NOW = new Date('2026-03-04T05:06:07.008Z');
const TOKEN = '$' + '{TOKEN}';
const ENV = { TOKEN: '123456:secret-of-the-bot' };
const GROUPS = ['channels', 'telegram', 'access', 'allowGroups'];

const FILE = `# Mine.
version: 1 # Parley 0.1.0

owners:
    - telegram:1      # me


log:   { level:  info }
channels:
    # the family's
    telegram:
        token:   ${TOKEN}   # from @BotFather
        access:
            # direct: open
            groups: allowlist
    web:
        title: "Hello"     # big
# the end
`;

function edit(changes: readonly SettingsChange[], at = NOW, env = ENV) {
  const file = path('parley.yaml');
  const edited = editSettings(changes, { file, check: (one) => loadFile(one, env), now: at });
  return { edited, text: readFileSync(file, 'utf8') };
}

function changed(text: string, ...changes: SettingsChange[]): string {
  const result = changeSettingsText(text, changes);
  if (result.kind === 'refused') throw new Error(JSON.stringify(result.problems));
  return result.text;
}

/** Lists the lines that only one of two texts contains. */
function difference(before: string, after: string): string[] {
  const [old, young] = [before.split('\n'), after.split('\n')];
  return [
    ...old.filter((line) => !young.includes(line)).map((line) => `-${line}`),
    ...young.filter((line) => !old.includes(line)).map((line) => `+${line}`),
  ];
}

beforeEach(() => {
  for (const name of readdirSync(path('.'))) rmSync(path(name));
});

describe('changing the settings file', () => {
  it('[U03] [D12] undoes a change with the copy that the change created, and redoes it by undoing twice', () => {
    const file = path('parley.yaml');
    const undo = (now: Date) => undoSettings({ file, check: (one) => loadFile(one, ENV), now });
    writeFileSync(file, FILE);
    // A copy created by a person is ignored.
    writeFileSync(`${file}.before-upgrade`, 'nothing: true');
    expect(findLastCopy(file)).toBeUndefined();
    expect(undo(NOW)).toEqual({ kind: 'unchanged' });
    edit([{ kind: 'set', path: ['log', 'level'], value: 'warn' }]);
    const changedText = readFileSync(file, 'utf8');
    expect(findLastCopy(file)?.keptAt).toBe(NOW.toISOString());
    expect(undo(new Date(NOW.getTime() + 1)).kind).toBe('written');
    expect(readFileSync(file, 'utf8')).toBe(FILE);
    expect(undo(new Date(NOW.getTime() + 2)).kind).toBe('written');
    expect(readFileSync(file, 'utf8')).toBe(changedText);
  });

  it('[D12] adds to a list and leaves every other line unchanged', () => {
    load(FILE);
    chmodSync(path('parley.yaml'), 0o600);
    const { edited, text } = edit([
      { kind: 'add', path: GROUPS, value: '-1001234567890', comment: 'Family\n& #friends' },
    ]);
    const kept = path('parley.yaml.before-2026-03-04T05-06-07-008Z');
    expect(edited).toEqual({ kind: 'written', kept });
    expect(readFileSync(kept, 'utf8')).toBe(FILE);
    expect(difference(FILE, text)).toEqual([
      '+            allowGroups:',
      '+                - "-1001234567890" # Family & #friends',
    ]);
    for (const name of ['parley.yaml', kept.slice(path('').length)]) {
      expect(statSync(path(name)).mode & 0o777).toBe(0o600);
    }
    expect(readdirSync(path('.'))).toHaveLength(2);
    expect(
      getValidSettings(loadFile(path('parley.yaml'), ENV)).channels['telegram/default'],
    ).toMatchObject({
      access: { allowGroups: ['-1001234567890'] },
    });
  });

  it('[D12] does nothing when the file already contains the value, even as a number', () => {
    load('channels:\n  web:\n    access:\n      allowGroups: [ 17,   -5 ]\n');
    const groups = ['channels', 'web', 'access', 'allowGroups'];
    const { edited } = edit([
      { kind: 'add', path: groups, value: '-5' },
      { kind: 'take', path: groups, value: '6' },
      { kind: 'remove', path: ['log', 'level'] },
    ]);
    expect(edited).toEqual({ kind: 'unchanged' });
    expect(readdirSync(path('.'))).toEqual(['parley.yaml']);
  });

  it.each<[string, SettingsChange, string]>([
    [
      'sets a word and keeps',
      { kind: 'set', path: ['log', 'level'], value: 'warn' },
      'log: {level: warn}\n',
    ],
    [
      'sets a text with its comment and keeps',
      { kind: 'set', path: ['channels', 'web', 'title'], value: 'Hi' },
      '        title: "Hi" # big\n',
    ],
    [
      'removes from a list and keeps',
      { kind: 'take', path: ['owners'], value: 'telegram:1' },
      'owners: []\n',
    ],
    [
      'creates a section and keeps',
      { kind: 'set', path: ['http', 'port'], value: 8080 },
      'http:\n    port: 8080\n',
    ],
  ])('[D12] %s the rest unchanged', (_, change, lines) => {
    const text = changed(FILE, change);
    expect(text).toContain(lines);
    expect(difference(FILE, text).length).toBeLessThanOrEqual(3);
  });

  it('[D12] keeps comments around a removed key, and settings that are commented out', () => {
    const text = changed(FILE, { kind: 'remove', path: ['channels', 'telegram'] });
    expect(text).not.toContain('token');
    for (const comment of ["# the family's", '# big', '# the end', '# Mine.']) {
      expect(text).toContain(comment);
    }
    const commented = 'channels:\n#  telegram:\n#    token: mine\n#log: {}\nagent:\n  name: A\n';
    const added = changed(commented, {
      kind: 'set',
      path: ['channels', 'web', 'title'],
      value: 'x',
    });
    for (const comment of ['#  telegram:', '#    token: mine', '#log: {}']) {
      expect(added).toContain(comment);
    }
  });

  it('[D12] edits the template of a first start and keeps all its explanations', () => {
    const text = changed(
      createSettingsTemplate(),
      { kind: 'add', path: GROUPS, value: '-5', comment: 'Family' },
      { kind: 'set', path: ['agent', 'name'], value: 'Wren' },
    );
    expect(difference(createSettingsTemplate(), text)).toEqual([
      '+channels:',
      '+  telegram:',
      '+    access:',
      '+      allowGroups:',
      '+        - "-5" # Family',
      '+agent:',
      '+  name: Wren',
    ]);
    const file = path('parley.yaml');
    const check = (one: string) => loadFile(one, ENV);
    const set: SettingsChange = { kind: 'set', path: ['agent', 'name'], value: 'Wren' };
    expect(editSettings([set], { file, check, now: NOW })).toEqual({ kind: 'written', kept: null });
    expect(readFileSync(file, 'utf8')).toContain('#agent:');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('[D12] keeps ids that are too long for a JavaScript number', () => {
    const text = 'channels:\n  web: {access: {allowGroups: [123456789012345678]}}\n';
    const groups = ['channels', 'web', 'access', 'allowGroups'];
    expect(changed(text, { kind: 'add', path: groups, value: '123456789012345678' })).toBe(text);
    expect(changed(text, { kind: 'add', path: groups, value: '123456789012345679' })).toBe(
      text.replace('5678]', '5678, "123456789012345679"]'),
    );
  });

  it.each<[string, SettingsChange, string]>([
    [
      'a value that does not fit',
      { kind: 'set', path: ['http', 'port'], value: 'many' },
      'http.port has a value that does not fit',
    ],
    [
      'an account that would not start',
      { kind: 'set', path: ['channels', 'telegram', 'token'], value: 'short' },
      'channels.telegram.token has a value that does not fit',
    ],
    [
      'a reference that leads nowhere',
      { kind: 'set', path: ['channels', 'telegram', 'token'], value: '$' + '{TOKENS}' },
      'did you mean: TOKEN',
    ],
    [
      'an unknown key',
      { kind: 'set', path: ['log', 'levle'], value: 'info' },
      'log.levle is not a known key',
    ],
    ['a list that is not one', { kind: 'add', path: ['log', 'level'], value: 'x' }, 'a list'],
    ['a block that is not one', { kind: 'set', path: ['version', 'x'], value: 1 }, 'a block'],
  ])('[D12] refuses %s and does not change the file', (_, change, why) => {
    load(FILE);
    const { edited, text } = edit([{ kind: 'set', path: ['log', 'level'], value: 'warn' }, change]);
    if (edited.kind !== 'refused') throw new Error(edited.kind);
    expect(edited.problems.map(describeProblem).join('\n')).toContain(why);
    expect(text).toBe(FILE);
    expect(readdirSync(path('.'))).toEqual(['parley.yaml']);
  });

  it('[D12] changes a file with a broken account, and refuses invalid YAML, reporting the position', () => {
    load(FILE);
    const { edited } = edit([{ kind: 'set', path: ['agent', 'name'], value: 'W' }], NOW, {
      TOKEN: '',
    });
    expect(edited.kind).toBe('written');
    load('a: [\n');
    const broken = edit([{ kind: 'set', path: ['agent', 'name'], value: 'W' }]).edited;
    expect(broken).toMatchObject({ kind: 'refused', problems: [{ kind: 'syntax' }] });
  });

  it('[D12] does not write through an alias', () => {
    const text = 'x: &a { level: info }\nlog: *a\n';
    expect(
      changeSettingsText(text, [{ kind: 'set', path: ['log', 'level'], value: 'warn' }]),
    ).toMatchObject({
      kind: 'refused',
    });
  });

  it('keeps the last ten versions of the file', () => {
    load(FILE);
    for (let second = 0; second < 12; second++) {
      const at = new Date(NOW.getTime() + second * 1000);
      edit([{ kind: 'set', path: ['agent', 'name'], value: `Wren ${second}` }], at);
    }
    const kept = readdirSync(path('.')).filter((name) => name.includes('before'));
    expect(kept).toHaveLength(10);
    expect(kept.toSorted().at(-1)).toContain('05-06-18');
  });

  it('finds the settings of an account', () => {
    const file = path('some.yaml');
    writeFileSync(file, 'channels:\n  web:\n    accounts:\n      default: {}\n');
    const of = (channel: string, account: string) => findAccountPath(file, { channel, account });
    expect(of('web', 'default')).toEqual(['channels', 'web', 'accounts', 'default']);
    expect(of('telegram', 'default')).toEqual(['channels', 'telegram']);
    expect(of('telegram', 'work')).toEqual(['channels', 'telegram', 'accounts', 'work']);
  });
});
