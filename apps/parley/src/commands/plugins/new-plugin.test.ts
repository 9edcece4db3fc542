import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { main } from '../../main.ts';
import { createPluginFiles, findNameProblem, type PluginKind } from './plugin-template.ts';

const ROOT = join(import.meta.dirname, '../../../../..');
const TAKEN = { tools: ['read', 'web_fetch'], channels: ['web', 'api'] };

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-new-plugin-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs `parley plugins new` with the data folder and the new plugin in the test's folder. */
async function plugins(...args: readonly string[]) {
  let out = '';
  const stream = { write: (text: string) => (out += text) };
  const words = ['--data', join(folder, 'data'), 'plugins', 'new', ...args];
  const code = await main(words, { stdout: stream, stderr: stream });
  return { code, out };
}

describe('the name of a new plugin', () => {
  it.each<[name: string, kind: PluginKind, problem: RegExp | null]>([
    ['dice', 'tool', null],
    ['my-chat-2', 'channel', null],
    ['read', 'channel', null],
    ['web', 'tool', null],
    ['read', 'tool', /^The name read is taken/],
    ['web-fetch', 'tool', /^The name web_fetch is taken/],
    ['api', 'channel', /^The name api is taken/],
    ['parley', 'tool', /cannot be called parley/],
    ['a'.repeat(64), 'tool', null],
    ['a'.repeat(65), 'tool', /at most 64/],
    ...[
      '',
      'Dice',
      '2dice',
      '-dice',
      'dice-',
      'my--dice',
      'my_dice',
      'my dice',
      '../dice',
      '.',
      'é',
    ].map((name) => [name, 'tool', /is not a valid plugin name/] as [string, PluginKind, RegExp]),
  ])('[P16] %j for a %s', (name, kind, problem) => {
    const found = findNameProblem(name, kind, TAKEN);
    if (problem === null) expect(found).toBeNull();
    else expect(found).toMatch(problem);
  });
});

describe('the files of a new plugin', () => {
  it.each<PluginKind>(['tool', 'channel'])(
    "[P16] of a %s contain the plugin's name instead of placeholders",
    (kind) => {
      const files = createPluginFiles('red-dice', kind, { parley: '../parley', use: './red-dice' });
      expect([...files.keys()].toSorted()).toEqual([
        'README.md',
        'index.ts',
        'package.json',
        'test.ts',
        'tsconfig.json',
      ]);
      for (const text of files.values()) expect(text).not.toMatch(/my.plugin|FOLDER|PARLEY/);
      expect(files.get('index.ts')).toContain(
        kind === 'tool' ? "name: 'red_dice'" : "id: 'red-dice'",
      );
      expect(JSON.parse(files.get('package.json') ?? '')).toMatchObject({ name: 'red-dice' });
    },
  );

  it('[P16] do not request a package named parley from a registry, and request the tested versions of other packages', () => {
    const files = createPluginFiles('dice', 'tool', {
      parley: '../node_modules/parley',
      use: './dice',
    });
    const { devDependencies } = JSON.parse(files.get('package.json') ?? '');
    const ours = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).devDependencies;
    expect(devDependencies).toEqual({
      parley: 'file:../node_modules/parley',
      '@types/node': ours['@types/node'],
      typescript: ours.typescript,
    });
  });
});

describe('parley plugins new', () => {
  it('[P16] leaves an existing folder unchanged and reports it', async () => {
    mkdirSync(join(folder, 'dice'));
    writeFileSync(join(folder, 'dice/index.ts'), 'mine');
    const { code, out } = await plugins('dice', '--in', folder);
    expect(code).toBe(1);
    expect(out).toContain(`${join(folder, 'dice')} already exists and was not changed.`);
    expect(readdirSync(join(folder, 'dice'))).toEqual(['index.ts']);
    expect(readFileSync(join(folder, 'dice/index.ts'), 'utf8')).toBe('mine');
  });

  it('[P16] refuses to write into the workspace, because plugins are not loaded from there', async () => {
    const inside = join(folder, 'data/workspace');
    const { code, out } = await plugins('dice', '--in', inside);
    expect([code, existsSync(inside)]).toEqual([1, false]);
    expect(out).toContain('is inside the workspace');
  });

  it('[P16] writes nothing for an invalid name, and exits with the code for incorrect usage', async () => {
    const { code, out } = await plugins('web', '--channel', '--in', folder);
    expect([code, readdirSync(folder)]).toEqual([2, []]);
    expect(out).toContain("The name web is taken by one of Parley's own channels.");
  });

  it('[P16] names the folder that cannot be written', async () => {
    writeFileSync(join(folder, 'file'), '');
    const { code, out } = await plugins('dice', '--in', join(folder, 'file'));
    expect([code, out]).toEqual([1, expect.stringContaining('file/dice is not writable: ')]);
  });
});
