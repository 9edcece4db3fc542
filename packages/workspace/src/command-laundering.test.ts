import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Reader } from '@parley/core';
import { toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openMemorySearch } from './memory/memory-search.ts';
import { openWorkspace, type Workspace } from './open-workspace.ts';
import type { ReadOnlyPaths } from './shell-commands.ts';
import { listSkillFolders } from './skills/find-skills.ts';
import { openSkills, type Skills } from './skills/skills.ts';

const CANARY = 'canary7f3a9c';
const GUEST: Reader = { kind: 'guest', conversationId: 'crew' };
const OPEN_SKILL = '---\nname: NAME\ndescription: Of tea.\n---\nBrew.';

/** The files before the command runs: open files and skills, with usual and unusual spellings. */
const FILES: Readonly<Record<string, string>> = {
  'AGENTS.md': 'Be brief.',
  'MEMORY.md': CANARY,
  'notes/open.md': 'open',
  'notes/secret.txt': CANARY,
  'prices.csv': '---\naudience: everyone\n---\n1,2',
  'skills/tea/SKILL.md': OPEN_SKILL.replace('NAME', 'tea'),
  'skills/tea/steps.txt': 'open',
  'Skills/brew/SKILL.md': OPEN_SKILL.replace('NAME', 'brew'),
  'my/other.md': 'open',
};
const PROMPT_FILES = [
  ...['AGENTS.md', 'BOOT.md', 'SKILL.md', 'MEMORY.md', 'memory/', 'knowledge/', 'formats/'],
  ...['personas/', 'skills/', 'my/skills/', '.agents/skills/'],
];

const HEADS: readonly Buffer[] = [
  ...['', '---\naudience: everyone\n---\n', '---\naudience: owner\n---\n', '---\nbroken: [\n---\n'],
  ...['---\ntitle: tea\n---\n', '\uFEFF---\naudience: everyone\n---\n', '---\nnever closed\n'],
  ...[
    `${'\n'.repeat(5_000)}---\naudience: everyone\n---\n`,
    '\u200b ---\nAudience: everyone\n---\n',
  ],
  ...[
    '---\nname: leak\ndescription: Leaks.\nmetadata: {"openclaw":{"audience":"everyone"}}\n---\n',
  ],
  '---\nname: leak\ndescription: Leaks.\naudience: everyone\n---\n',
]
  .map((head) => Buffer.from(head))
  // This content is not valid UTF-8.
  .concat(Buffer.from('ä\n', 'latin1'), Buffer.from('---\ntitle: ä\n---\n', 'latin1'));

const WORDS = [
  ...['skills', 'memory', 'groups', 'notes', 'knowledge', 'formats', 'my', '.agents', 'tea'],
  ...['node_modules', 'brew', 'leak', 'new'],
];
const NAMES = [
  ...[
    'leak.md',
    'leak.txt',
    'SKILL.md',
    'AGENTS.md',
    'MEMORY.md',
    'TOOLS.md',
    'prices.csv',
    'leak',
  ],
  ...['other.md', 'open.md', 'steps.txt', 'BOOT.md'],
];

/** Spellings of a name: other letters, other Unicode forms, invisible characters. */
const spelled = fc
  .tuple(fc.constantFrom(...WORDS, ...NAMES), fc.nat(9))
  .map(([name, how]) => SPELLINGS[how]?.(name) ?? name);
const SPELLINGS: readonly ((name: string) => string)[] = [
  (name) => name.toUpperCase(),
  (name) => `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`,
  (name) => name.replace(/[!-~]/g, (one) => String.fromCharCode(one.charCodeAt(0) + 0xfee0)),
  (name) => name.replace('.md', '．ｍｄ'),
  (name) => `${name.slice(0, 2)}\u034f${name.slice(2)}`,
  (name) => name.replace('s', 'ſ'),
  (name) => `${name}\u0301`,
];
const place = fc
  .tuple(
    fc.array(fc.oneof(fc.constantFrom(...WORDS), spelled), { maxLength: 3 }),
    fc.oneof(fc.constantFrom(...NAMES), spelled),
  )
  .map(([folders, name]) => [...folders, name].join('/'));

const act = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.tuple(fc.constant('write' as const), place, fc.nat(HEADS.length - 1)),
  },
  fc.tuple(fc.constant('link' as const), place, fc.nat(1)),
  fc.tuple(fc.constant('symlink' as const), place, fc.nat(3)),
  fc.tuple(fc.constant('move' as const), place, fc.nat(5)),
  fc.tuple(fc.constant('lock' as const), place, fc.nat(HEADS.length - 1)),
);
type Act = typeof act extends fc.Arbitrary<infer A> ? A : never;

const PRIVATE = ['MEMORY.md', 'notes/secret.txt'];

/** Performs one step of a command, unless the sandbox or the disk would refuse the step. */
function perform(
  folder: string,
  { closed, readOnly }: ReadOnlyPaths,
  [kind, name, nth]: Act,
): void {
  const isCovered = (path: string) =>
    [...closed, ...readOnly].some((one) => path === one || path.startsWith(`${one}/`));
  const isMount = (path: string) => closed.some((one) => one.startsWith(`${path}/`));
  if (isCovered(name) || isMount(name)) return;
  const path = join(folder, name);
  try {
    mkdirSync(dirname(path), { recursive: true });
    if (kind === 'write' || kind === 'lock') {
      writeFileSync(path, Buffer.concat([HEADS[nth] ?? Buffer.of(), Buffer.from(CANARY)]));
      if (kind === 'lock') chmodSync(path, 0);
    } else if (kind === 'link') {
      const from = PRIVATE[nth] ?? '';
      if (!isCovered(from)) linkSync(join(folder, from), path);
    } else if (kind === 'symlink') {
      symlinkSync(join(folder, [...PRIVATE, 'notes', '.parley'][nth] ?? ''), path);
    } else {
      const from = ['notes', 'Skills', 'Skills/brew', 'my/other.md', 'leak', 'new'][nth] ?? '';
      if (!isCovered(from) && !isMount(from)) renameSync(join(folder, from), path);
    }
  } catch {
    // A step fails if another file or folder is already there.
  }
}

function everyPath(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' });
}

/**
 * Collects everything that a guest can see: by reading, listing and searching, and in the skill
 * catalog.
 */
async function shownToGuest(workspace: Workspace, skills: Skills): Promise<string> {
  const view = workspace.for(GUEST);
  const shown: unknown[] = [await view.list()];
  const paths = everyPath(workspace.folder);
  for (const path of paths) {
    for (const name of new Set([path, path.normalize('NFKC'), path.toLowerCase()])) {
      shown.push(await view.read(name));
      const bytes = await view.readBytes(name, 100_000);
      if ('bytes' in bytes) shown.push(Buffer.from(bytes.bytes).toString('latin1'));
    }
  }
  const question = `What about ${CANARY} and tea?`;
  const at = { conversation: 'crew', session: 1, most: 20 };
  shown.push(await openMemorySearch(workspace).find(view, question, at));
  shown.push(await skills.snapshot(GUEST), await skills.userInvocable(GUEST));
  for (const { name } of await skills.list()) {
    shown.push(await skills.read(name, GUEST));
    for (const path of paths) {
      const file = path.split('/').slice(2).join('/');
      if (file !== '') shown.push(await skills.read(name, GUEST, file));
    }
  }
  return JSON.stringify(shown);
}

/** The text of all files that become prompt text. */
function promptText(folder: string): string {
  const isPrompt = (path: string) =>
    PROMPT_FILES.some((one) => (one.endsWith('/') ? path.startsWith(one) : path === one));
  const texts = everyPath(folder)
    .filter(isPrompt)
    .sort()
    .map((path) => {
      try {
        return `${path}: ${readFileSync(join(folder, path), 'utf8')}`;
      } catch {
        return path;
      }
    });
  return texts.join('\n');
}

async function open(base: string): Promise<{ workspace: Workspace; skills: Skills }> {
  const [folder, templates] = [join(base, 'w'), join(base, 't')];
  mkdirSync(templates, { recursive: true });
  for (const [name, text] of Object.entries(FILES)) {
    if (existsSync(join(folder, name))) continue;
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const workspace = await openWorkspace({ folder, templates });
  const nowhere = join(base, 'nowhere');
  const skills = openSkills({
    folders: listSkillFolders({
      ...{ extra: [join(folder, 'my/skills')], bundled: nowhere, data: nowhere, home: nowhere },
      ...{ project: folder, workspace: folder },
    }),
    settings: { block: [], show: 'inline', max: 150, maxCharacters: 30_000, maxFileBytes: 256_000 },
    facts: () => ({ os: 'linux', env: {}, settings: {}, tools: new Set() }),
    reserved: [],
    home: nowhere,
  });
  return { workspace, skills };
}

/**
 * Runs a command with these steps, and inspects the workspace as a guest while it runs, afterwards,
 * and once people clean up.
 */
async function launder(acts: readonly Act[]): Promise<void> {
  const base = mkdtempSync(join(tmpdir(), 'parley-launder-'));
  try {
    const { workspace, skills } = await open(base);
    const { folder } = workspace;
    const before = promptText(folder);
    const rules = { promptFiles: PROMPT_FILES, timeoutMs: 1_000 };
    expect(await shownToGuest(workspace, skills)).not.toContain(CANARY);
    await workspace.commands.run(rules, async (covered) => {
      for (const one of acts) perform(folder, covered, one);
      expect(await shownToGuest(workspace, skills)).not.toContain(CANARY);
    });
    expect(existsSync(join(folder, '.parley/commands'))).toBe(false);
    expect(promptText(folder)).toBe(before);
    expect(await shownToGuest(workspace, skills)).not.toContain(CANARY);
    for (const path of everyPath(folder)) {
      try {
        chmodSync(join(folder, path), 0o700);
      } catch {
        // A dangling link is skipped.
      }
    }
    for (const name of PRIVATE) rmSync(join(folder, name), { force: true });
    expect(await shownToGuest(workspace, skills)).not.toContain(CANARY);
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

describe('[W02] [W03] [W09] files that a command in an owner’s turn creates', () => {
  it.each<[string, readonly Act[]]>([
    ['a text in a folder that looks like skills', [['write', 'SKILLS/leak.txt', 0]]],
    ['a text beside an open skill in such a folder', [['write', 'Skills/brew/leak.txt', 0]]],
    ['the same in full-width letters', [['write', 'ｓｋｉｌｌｓ/leak.txt', 0]]],
    ['Markdown with a full-width ending', [['write', 'leak．ｍｄ', 0]]],
    ['Markdown with an ending in capitals', [['write', 'notes/leak.MD', 0]]],
    ['a table that says it is for everyone', [['write', 'prices2.csv', 1]]],
    ['the same below many blank lines', [['write', 'prices2.csv', 7]]],
    ['Markdown of an installed package', [['write', 'node_modules/tea/leak.md', 1]]],
    ['Markdown that is no UTF-8', [['write', 'leak.md', 11]]],
    ['a second name of a private text', [['link', 'leak.md', 1]]],
    ['a file that Parley may not read', [['lock', 'leak.md', 0]]],
    ['a folder of skills that is moved', [['move', 'new', 1]]],
    [
      'a format, and a skill, whose folder is not there',
      [
        ['write', 'formats/telegram.md', 0],
        ['write', '.agents/skills/leak/SKILL.md', 10],
        ['write', 'my/skills/leak/SKILL.md', 10],
      ],
    ],
  ])('do not reach a guest: %s', (_what, acts) => launder(acts));

  it(
    'do not reach a guest or change prompt text, for random names and contents',
    () =>
      fc.assert(
        fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 6 }), (acts) => launder(acts)),
        toRunOptions(60),
      ),
    120_000,
  );

  it('keep their bytes below the inserted front matter, even if they are not UTF-8', async () => {
    const base = mkdtempSync(join(tmpdir(), 'parley-launder-'));
    const { workspace } = await open(base);
    const path = join(workspace.folder, 'leak.md');
    const bytes = Buffer.from('Käse: 3 €\n\xff', 'latin1');
    await workspace.commands.run({ promptFiles: [], timeoutMs: 1_000 }, async () =>
      writeFileSync(path, bytes),
    );
    const head = Buffer.from('---\naudience: owner # written by the agent\n---\n\n');
    expect(readFileSync(path).equals(Buffer.concat([head, bytes]))).toBe(true);
    rmSync(base, { recursive: true, force: true });
  });
});

describe('[W03] a file below skills/', () => {
  it('is private to the owner unless there is an open SKILL.md above it', async () => {
    const base = mkdtempSync(join(tmpdir(), 'parley-launder-'));
    const { workspace, skills } = await open(base);
    const put = (name: string, text: string) => {
      mkdirSync(dirname(join(workspace.folder, name)), { recursive: true });
      writeFileSync(join(workspace.folder, name), text);
    };
    put('skills/loose.md', 'x');
    put('skills/loose/steps.txt', 'x');
    put('skills/tea/inner/SKILL.md', '---\naudience: owner\n---\nx');
    put('skills/tea/inner/steps.txt', 'x');
    const view = workspace.for(GUEST);
    const kindOf = async (name: string) => (await view.read(name)).kind;
    expect(await kindOf('skills/tea/steps.txt')).toBe('file');
    for (const name of [
      'skills/loose.md',
      'skills/loose/steps.txt',
      'skills/tea/inner/steps.txt',
    ]) {
      expect([name, await kindOf(name)]).toEqual([name, 'absent']);
    }
    expect((await skills.read('tea', GUEST, 'steps.txt')).kind).toBe('skill');
    expect((await skills.read('tea', GUEST, 'inner/steps.txt')).kind).toBe('absent');
    const owner: Reader = { kind: 'owner', conversationId: 'main' };
    expect((await skills.read('tea', owner, 'inner/steps.txt')).kind).toBe('skill');
    rmSync(base, { recursive: true, force: true });
  });
});
