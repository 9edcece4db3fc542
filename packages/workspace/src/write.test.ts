import { execFileSync } from 'node:child_process';
import {
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Reader } from '@parley/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openWorkspace, type Workspace } from './open-workspace.ts';
import type { WorkspaceLock } from './workspace-lock.ts';
import type { WorkspaceView } from './workspace-view.ts';

const TEMPLATES = join(import.meta.dirname, '../../../config/workspace');
const OWNER: Reader = { kind: 'owner', conversationId: 'web:default:owner' };
const GROUP: Reader = { kind: 'guest', conversationId: 'telegram:default:-100' };
const OTHER: Reader = { kind: 'guest', conversationId: 'telegram:default:-200' };

let base: string;
let folder: string;
let workspace: Workspace;
let owner: WorkspaceView;
let group: WorkspaceView;

const put = (name: string, text: string): Promise<void> => writeFile(join(folder, name), text);
const onDisk = (name: string): Promise<string> => readFile(join(folder, name), 'utf8');
const textOf = async (view: WorkspaceView, name: string): Promise<string> => {
  const file = await view.read(name);
  return file.kind === 'file' ? file.text : `absent: ${file.reason}`;
};
const OWNERS = '---\naudience: owner # written by the agent\n---\n\n';
const refusal = (reason: string) => ({ kind: 'refused', reason, detail: expect.any(String) });

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'parley-write-'));
  folder = join(base, 'workspace');
  workspace = await openWorkspace({ folder, templates: TEMPLATES });
  owner = workspace.for(OWNER);
  group = workspace.for(GROUP);
});
afterEach(() => rm(base, { recursive: true, force: true }));

describe("a group's memory file", () => {
  const CANARY = 'Bo brings the cake';

  it("[W04] shows a group's memory only in that group", async () => {
    expect(await group.write(group.groupMemory, CANARY)).toMatchObject({ kind: 'written' });
    expect(await group.read(group.groupMemory)).toEqual({
      kind: 'file',
      text: CANARY,
      source: group.groupMemory,
      audience: { kind: 'conversation', conversationId: GROUP.conversationId },
      characters: CANARY.length,
      cut: null,
    });
    for (const view of [owner, workspace.for(OTHER)]) {
      expect(await view.read(group.groupMemory)).toEqual({ kind: 'absent', reason: 'private' });
      expect((await view.list()).map(({ name }) => name)).not.toContain(group.groupMemory);
      expect(await view.write(group.groupMemory, 'mine')).toEqual(refusal('private'));
    }
    expect((await group.list()).map(({ name }) => name)).toContain(group.groupMemory);
  });

  it("[W04] allows front matter to close a group's memory, but not to open it to others", async () => {
    await mkdir(join(folder, 'groups'));
    await put(group.groupMemory, `---\naudience: everyone\n---\n${CANARY}`);
    expect(await textOf(group, group.groupMemory)).toBe(CANARY);
    expect(await textOf(owner, group.groupMemory)).toBe('absent: private');
    await put(group.groupMemory, `---\naudience: owner\n---\n${CANARY}`);
    expect(await textOf(group, group.groupMemory)).toBe('absent: private');
    expect(await textOf(owner, group.groupMemory)).toBe('absent: private');
    expect(await group.write(group.groupMemory, 'x')).toEqual(refusal('private'));
  });

  it('[W04] does not accept another file in the folder as group memory, in any spelling', async () => {
    await mkdir(join(folder, 'groups'));
    await put('groups/free.md', CANARY);
    for (const name of ['groups/free.md', 'Groups/free.md', group.groupMemory.toUpperCase()]) {
      expect(await textOf(group, name)).toBe('absent: private');
      expect(await textOf(owner, name)).toBe('absent: private');
    }
  });
});

describe('writing', () => {
  it('creates a file and its folders for their owner only', async () => {
    expect(await owner.write('knowledge/tea/green.md', 'Water at 80 °C')).toEqual({
      kind: 'written',
      name: 'knowledge/tea/green.md',
      characters: 63,
      created: true,
    });
    expect(await onDisk('knowledge/tea/green.md')).toBe(`${OWNERS}Water at 80 °C\n`);
    expect((await stat(join(folder, 'knowledge/tea/green.md'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, 'knowledge/tea'))).mode & 0o777).toBe(0o700);
  });

  it('replaces a file atomically, and shows the new content to the next read', async () => {
    await owner.write('MEMORY.md', 'one');
    expect(await owner.write('MEMORY.md', 'two')).toMatchObject({ created: false });
    expect(await textOf(owner, 'MEMORY.md')).toBe('two');
    expect(await readdir(folder)).not.toContainEqual(expect.stringContaining('.tmp'));
  });

  it.each([
    ['AGENTS.md'],
    ['MEMORY.md'],
    ['memory/2026-11-21.md'],
    ['notes.md'],
    ['groups/a.md'],
    ['skills/x/SKILL.md'],
  ])('[W02] refuses to let guests write %s', async (name) => {
    expect(await group.write(name, 'x')).toEqual(refusal('private'));
  });

  it('[P15] does not touch memory when memory is off', async () => {
    await put('MEMORY.md', 'kept');
    const off = await openWorkspace({ folder, templates: TEMPLATES, memory: 'off' });
    const [main, guest] = [off.for(OWNER), off.for(GROUP)];
    for (const name of ['MEMORY.md', 'memory/2026-11-21.md']) {
      expect(await main.write(name, 'x')).toEqual(refusal('private'));
    }
    expect(await guest.write(guest.groupMemory, 'x')).toEqual(refusal('private'));
    expect(await onDisk('MEMORY.md')).toBe('kept');
    expect(await main.write('notes.md', 'x')).toMatchObject({ kind: 'written' });
  });

  it.each([
    ...['agents.md', 'Memory.md', 'ＴＯＯＬＳ.md', 'Skills/tea/SKILL.md', 'ｓｋｉｌｌｓ/x.txt'],
    ...['Memory/x.md', 'HEARTBEAT\u034f.md'],
  ])('[W02] [W09] refuses %s, which resembles a protected name', async (name) => {
    const result = await owner.write(name, 'x');
    expect(result).toMatchObject({ kind: 'refused', reason: 'protected' });
    expect(result).toMatchObject({ detail: expect.stringContaining('use exactly that name') });
  });

  it.each(['SOUL.md', 'soul.md', 'ＳOUL.md'])('[W06] never changes %s', async (name) => {
    expect(await owner.write(name, 'x')).toEqual(refusal('protected'));
    expect(await group.write(name, 'x')).toEqual(refusal('protected'));
  });

  it.each(['../x.md', '/etc/x.md', '.git/config', 'a/../../x.md', 'a\\x.md', 'x.md.', ''])(
    '[W07] stays inside the workspace: %j',
    async (name) => {
      expect(await owner.write(name, 'x')).toEqual(refusal('path'));
    },
  );

  it.each([
    ['a\0b', 'not-text'],
    ['\ud800', 'not-text'],
    ['a'.repeat(1_000_001), 'too-large'],
  ])('refuses to write files that it would not read', async (text, reason) => {
    expect(await owner.write('notes.md', text)).toEqual(refusal(reason));
    expect(await textOf(owner, 'notes.md')).toBe('absent: missing');
  });

  it('keeps both texts when two writers write at the same time, one after the other', async () => {
    await put('notes.md', '---\naudience: owner\n---\nold');
    await Promise.all(['one', 'two', 'three'].map((text) => owner.write('notes.md', text)));
    expect(await onDisk('notes.md')).toBe('---\naudience: owner\n---\n\nthree\n');
  });
});

describe('obstacles to a write', () => {
  beforeEach(() => writeFile(join(base, 'outside.md'), 'outside'));
  const outside = (): Promise<string> => readFile(join(base, 'outside.md'), 'utf8');

  it('[W07] does not follow a link in place of the file', async () => {
    await symlink(join(base, 'outside.md'), join(folder, 'link.md'));
    expect(await owner.write('link.md', 'x')).toEqual(refusal('link'));
    expect(await outside()).toBe('outside');
  });

  it('[W07] does not follow a link in place of a folder, even a new one', async () => {
    await mkdir(join(base, 'elsewhere'));
    await owner.write('knowledge/a.md', 'one');
    await rename(join(folder, 'knowledge'), join(folder, 'old'));
    await symlink(join(base, 'elsewhere'), join(folder, 'knowledge'));
    expect(await owner.write('knowledge/a.md', 'two')).toEqual(refusal('link'));
    expect(await owner.write('knowledge/deep/a.md', 'two')).toEqual(refusal('link'));
    expect(await readdir(join(base, 'elsewhere'))).toEqual([]);
  });

  it('[W07] does not create anything through a dangling link', async () => {
    await symlink(join(base, 'nowhere.md'), join(folder, 'link.md'));
    expect(await owner.write('link.md', 'x')).toEqual(refusal('link'));
    await expect(stat(join(base, 'nowhere.md'))).rejects.toThrow('ENOENT');
  });

  it('[W02] does not write to a second name of a file, because others may read the file under its first name', async () => {
    await put('MEMORY.md', 'canary');
    await link(join(folder, 'MEMORY.md'), join(folder, 'notes.md'));
    expect(await owner.write('notes.md', 'x')).toEqual(refusal('twin'));
    expect(await onDisk('MEMORY.md')).toBe('canary');
  });

  it('does not treat a folder or a pipe as a file', async () => {
    await mkdir(join(folder, 'things.md'));
    execFileSync('mkfifo', [join(folder, 'pipe.md')]);
    expect(await owner.write('things.md', 'x')).toEqual(refusal('not-a-file'));
    expect(await owner.write('pipe.md', 'x')).toEqual(refusal('not-a-file'));
    expect(await owner.write('AGENTS.md/inside.md', 'x')).toEqual(refusal('not-a-file'));
  });

  it('reports a failing disk instead of throwing', async () => {
    const tooLong = `${'é'.repeat(200)}.md`;
    expect(await owner.write(tooLong, 'x')).toEqual(refusal('disk'));
  });
});

describe('the front matter of a file that is written', () => {
  const PRIVATE = '---\n# mine\naudience: owner\n---\n\nold\n';

  it('[W03] is kept on a write, so that a private file stays private', async () => {
    await put('notes.md', PRIVATE);
    await owner.write('notes.md', 'new');
    expect(await onDisk('notes.md')).toBe('---\n# mine\naudience: owner\n---\n\nnew\n');
    expect(await textOf(group, 'notes.md')).toBe('absent: private');
  });

  it('[W03] keeps the file private to the owner when the new text does not declare an audience', async () => {
    await put('notes.md', PRIVATE);
    await owner.write('notes.md', '---\ntitle: Tea\n---\nnew');
    expect(await onDisk('notes.md')).toBe(
      '---\naudience: owner # written by the agent\ntitle: Tea\n---\nnew\n',
    );
  });

  it('[W03] can make a file private', async () => {
    await put('notes.md', 'old');
    expect(await owner.write('notes.md', PRIVATE)).toMatchObject({ kind: 'written' });
    expect(await textOf(group, 'notes.md')).toBe('absent: private');
  });

  it.each([
    ['never closed', '---\naudience: owner\n\nHello'],
    ['broken', '---\naudience: [\n---\nHello'],
    ['in code', '---js\n({})\n---\nHello'],
  ])('[W03] %s hides the file, and still hides it after a write', async (_, before) => {
    await put('notes.md', before);
    expect(await owner.write('notes.md', 'new')).toMatchObject({ kind: 'written' });
    expect(await textOf(owner, 'notes.md')).toBe('new');
    expect(await textOf(group, 'notes.md')).toBe('absent: private');
    expect(await owner.write('notes.md', before)).toEqual(refusal('front-matter'));
  });

  it('is refused if it comes from guests', async () => {
    expect(await group.write(group.groupMemory, PRIVATE)).toEqual(refusal('front-matter'));
  });
});

describe('[W09] a write by an owner’s turn, which can see private content', () => {
  const EVERYONE = '---\naudience: everyone\n---\n';
  const planOf = async (name: string, text: string) => {
    const plan = await owner.plan(name, () => text);
    if (plan.kind !== 'planned') throw new Error(`no plan: ${JSON.stringify(plan)}`);
    return plan;
  };

  it.each([
    ['notes/new.md', 'x', `${OWNERS}x\n`],
    [
      'knowledge/new.md',
      '---\ntitle: Tea\n---\nx',
      '---\naudience: owner # written by the agent\ntitle: Tea\n---\nx\n',
    ],
    [
      'skills/tea/SKILL.md',
      '---\nname: tea\n---\nx',
      '---\naudience: owner # written by the agent\nname: tea\n---\nx\n',
    ],
    ['groups/OWN', 'x', `${OWNERS}x\n`],
    // These files are always private to the owner.
    ['TOOLS.md', 'x', 'x\n'],
    ['memory/2026-11-22.md', EVERYONE, EVERYONE],
    ['prices.csv', 'a,b', 'a,b\n'],
    ['node_modules/tea/README.md', 'x', 'x\n'],
  ])('makes a new file in %s private to the owner', async (path, text, expected) => {
    const name = path.replace('groups/OWN', owner.groupMemory);
    await rm(join(folder, name), { force: true });
    expect(await owner.write(name, text)).toMatchObject({ kind: 'written', created: true });
    expect(await onDisk(name)).toBe(expected);
    for (const guest of [group, workspace.for({ ...OWNER, kind: 'guest' })]) {
      expect(await textOf(guest, name)).toBe('absent: private');
    }
  });

  it.each([
    ['creates an open file', 'notes/open.md', null, `${EVERYONE}new`],
    ['writes into an open file', 'notes/open.md', 'old', 'new'],
    ['replaces its front matter', 'notes/open.md', 'old', '---\ntitle: x\n---\nnew'],
    ['opens a file', 'notes/mine.md', `${OWNERS}old`, `${EVERYONE}new`],
    ['opens one that is the owner’s by its name', 'TOOLS.md', 'old', `${EVERYONE}new`],
    ['writes into one that was opened', 'TOOLS.md', `${EVERYONE}old`, 'new'],
    ['opens one that is no Markdown', 'prices.csv', 'a', `${EVERYONE}a`],
    ['puts a script into an open skill', 'skills/tea/run.sh', null, 'echo'],
  ])("requires a person's approval for a write that %s", async (_what, name, before, text) => {
    await mkdir(join(folder, 'notes'));
    await mkdir(join(folder, 'skills/tea'), { recursive: true });
    await put('skills/tea/SKILL.md', '---\nname: tea\ndescription: Tea.\n---\nBrew.');
    if (before !== null) await put(name, before);
    expect(await owner.write(name, text)).toEqual(refusal('needs-approval'));
    expect(await owner.write(name, text, { by: 'approval', content: 'else' })).toEqual(
      refusal('changed'),
    );
    expect(await onDisk(name).catch(() => null)).toBe(before);
    const { content } = await planOf(name, text);
    const approval = { by: 'approval', content } as const;
    expect(await owner.write(name, text, approval)).toMatchObject({ kind: 'written' });
    expect(await onDisk(name)).toBe(content);
    expect(await textOf(group, name)).toMatch(/new|a|echo/);
  });

  it('refuses an approved write if the file has changed in the meantime', async () => {
    await put('notes.md', 'one');
    const add = (text: string | null) => `${text} and two`;
    const plan = await owner.plan('notes.md', add);
    expect(plan).toMatchObject({ kind: 'planned', content: 'one and two\n', access: 'open' });
    await put('notes.md', 'three');
    const approval = { by: 'approval', content: 'one and two\n' } as const;
    expect(await owner.change('notes.md', add, approval)).toEqual(refusal('changed'));
    expect(await onDisk('notes.md')).toBe('three');
  });

  it('never opens a private skill, because nobody was shown its other files', async () => {
    const head = '---\nname: tea\naudience: owner\n---\n';
    await mkdir(join(folder, 'skills/tea'), { recursive: true });
    await put('skills/tea/SKILL.md', `${head}old`);
    await put('skills/tea/notes.md', 'secret');
    const open = `${EVERYONE}new`;
    for (const name of ['skills/tea/SKILL.md', 'skills/tea/notes.md']) {
      const approval = { by: 'approval', content: `${open}\n` } as const;
      expect(await owner.write(name, open, approval)).toEqual(refusal('private'));
    }
    expect(await owner.write('skills/tea/SKILL.md', '---\nname: tea\n---\nnew')).toMatchObject({
      kind: 'written',
    });
    expect(await textOf(group, 'skills/tea/notes.md')).toBe('absent: private');
  });

  it("allows a person's own command to change an open file, but not to open one", async () => {
    await put('notes.md', 'old');
    await put('mine.md', `${OWNERS}---\naudience: everyone\n---\nsecret\nline`);
    const command = { by: 'command' } as const;
    expect(await owner.change('notes.md', () => 'ol', command)).toMatchObject({ kind: 'written' });
    expect(
      await owner.change('mine.md', (text) => (text ?? '').replace('line', ''), command),
    ).toEqual(refusal('needs-approval'));
  });
});

describe('a change that starts from the current text', () => {
  it('[W02] loses none of many concurrent changes', async () => {
    const views = [workspace.for(OWNER), workspace.for({ ...OWNER, conversationId: 'other' })];
    const add = (line: string) => (text: string | null) => `${text ?? ''}\n${line}`;
    await Promise.all(
      Array.from({ length: 40 }, (_, i) => views[i % 2]?.change('notes.md', add(`line ${i}`))),
    );
    const text = await readFile(join(folder, 'notes.md'), 'utf8');
    expect(new Set(text.match(/^line \d+$/gm)).size).toBe(40);
  });

  it("keeps front matter, is based on a person's latest text, and may leave the text unchanged", async () => {
    const view = workspace.for(OWNER);
    await writeFile(join(folder, 'tea.md'), '---\naudience: owner\n---\n\ngreen\n');
    expect(await view.change('tea.md', (text) => `${text} and black`)).toMatchObject({
      kind: 'written',
    });
    expect(await readFile(join(folder, 'tea.md'), 'utf8')).toBe(
      '---\naudience: owner\n---\n\ngreen and black\n',
    );
    expect(await view.change('tea.md', () => null)).toEqual({ kind: 'unchanged' });
  });

  it("[W02] does not show a guest another reader's file, and does not write to it", async () => {
    await writeFile(join(folder, 'MEMORY.md'), 'a secret\n');
    const given: (string | null)[] = [];
    const result = await workspace.for(GROUP).change('MEMORY.md', (text) => {
      given.push(text);
      return 'mine now';
    });
    expect(given).toEqual([null]);
    expect(result).toMatchObject({ kind: 'refused', reason: 'private' });
    expect(await readFile(join(folder, 'MEMORY.md'), 'utf8')).toBe('a secret\n');
  });

  it('does not replace a file that exists but cannot be read', async () => {
    const large = 'x'.repeat(1_000_001);
    await writeFile(join(folder, 'large.md'), large);
    const changed = await workspace.for(OWNER).change('large.md', () => 'small');
    expect(changed).toMatchObject({ kind: 'refused', reason: 'too-large' });
    expect((await readFile(join(folder, 'large.md'), 'utf8')).length).toBe(large.length);
  });

  it('[D09] refuses a change if the lock cannot be acquired or was lost', async () => {
    const away: WorkspaceLock = { hold: () => Promise.reject(new Error('no database')) };
    const lost: WorkspaceLock = { hold: (work) => work({ isMine: () => false }) };
    for (const [lock, reason] of [
      [away, 'disk'],
      [lost, 'overtaken'],
    ] as const) {
      const here = await openWorkspace({ folder, templates: TEMPLATES, lock });
      const view = here.for(OWNER);
      expect(await view.change('a.md', () => 'a')).toMatchObject({ kind: 'refused', reason });
      expect(await view.write('a.md', 'a')).toMatchObject({ kind: 'refused', reason });
    }
    await expect(readFile(join(folder, 'a.md'))).rejects.toThrow('ENOENT');
  });
});
