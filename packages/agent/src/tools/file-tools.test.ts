import { homedir } from 'node:os';
import { toRunOptions } from '@parley/core/testing';
import { createPromptFiles } from '@parley/workspace';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openToolScene, type ToolScene } from '../testing/tool-scene.ts';
import { grepTool, listTool, readTool, toWorkspacePath } from './read-files.ts';
import { createEditTool, createWriteTool } from './write-files.ts';

const FILES = {
  'notes/birds.md': 'Parrots talk.\nCrows count.\nOwls sleep.',
  'MEMORY.md': 'The safe opens with heron-1.',
  'memory/2026-11-21.md': 'heron-2 was said today.',
  'plans.md': '---\naudience: owner\n---\nWe move to heron-3.',
};

const write = createWriteTool(createPromptFiles([]));
const edit = createEditTool(createPromptFiles([]));

let scene: ToolScene;
beforeEach(async () => {
  scene = await openToolScene(FILES);
});
afterEach(() => scene.close());

describe('read', () => {
  it('[G02] returns the whole file when no range is given', async () => {
    expect(await scene.use(readTool, { path: 'notes/birds.md' })).toEqual({
      text: FILES['notes/birds.md'],
    });
  });

  it.each(['./notes/birds.md', 'FOLDER/notes/birds.md'])(
    'reads paths in the forms that models write: %s',
    async (path) => {
      const { text } = await scene.use(readTool, { path: path.replace('FOLDER', scene.folder) });
      expect(text).toContain('Parrots');
    },
  );

  it('[P10] returns a range of lines, and states the total number of lines', async () => {
    const { text } = await scene.use(readTool, { path: 'notes/birds.md', offset: 2, limit: 1 });
    expect(text).toBe(
      'Crows count.\n\n[Cut: lines 2 to 2 of 3 of notes/birds.md are shown. Read on with offset 3.]',
    );
  });

  it('[P10] returns a long file in pieces that add up to the whole', async () => {
    const lines = Array.from({ length: 3_000 }, (_, index) => `line number ${index}`);
    scene.put('long.md', lines.join('\n'));
    const read: string[] = [];
    for (let offset: number | undefined = 1; offset !== undefined; ) {
      const { text } = await scene.use(readTool, { path: 'long.md', offset });
      const [piece = '', note = ''] = text.split('\n\n[Cut: ');
      expect(text.length).toBeLessThan(17_000);
      read.push(...piece.split('\n'));
      const next: string | undefined = /offset (\d+)/.exec(note)?.[1];
      offset = next === undefined ? undefined : Number(next);
    }
    expect(read).toEqual(lines);
  });

  it('[P10] states the length of a line that is too long for one call', async () => {
    scene.put('one-line.md', 'x'.repeat(50_000));
    const { text } = await scene.use(readTool, { path: 'one-line.md' });
    expect(text).toContain('the first 16000 of 50000 characters of line 1 of 1');
  });

  it.each([
    ['gone.md', 'There is no file gone.md here'],
    ['../secret', '../secret cannot be read'],
    ['/etc/passwd', '/etc/passwd cannot be read'],
    ['~/.ssh/id_rsa', 'cannot be read'],
  ])('[G06] states why a file cannot be read: %s', async (path, words) => {
    const { text, failed } = await scene.use(readTool, { path });
    expect(text).toContain(words);
    expect(failed).toBe(true);
  });
});

describe('list and grep', () => {
  it('[G02] list returns all files, or those of a folder', async () => {
    const { text } = await scene.use(listTool, {});
    expect(text.split('\n')).toContain('notes/birds.md (38)');
    expect((await scene.use(listTool, { folder: 'notes/' })).text).toBe('notes/birds.md (38)');
    expect((await scene.use(listTool, { folder: 'nowhere' })).text).toContain('no files');
  });

  it('[G02] grep ignores case, and does not interpret regular expressions', async () => {
    expect((await scene.use(grepTool, { text: 'CROWS' })).text).toBe(
      'notes/birds.md:2: Crows count.',
    );
    expect((await scene.use(grepTool, { text: 'c.*s' })).text).toBe('Nothing was found.');
  });

  it('[G02] list and grep accept folders in the forms that models write', async () => {
    scene.put('notesbook/a.md', 'Crows count.');
    for (const folder of ['notes', './notes/', `${scene.folder}/notes`]) {
      const found = await scene.use(grepTool, { text: 'crows', folder });
      expect(found.text).toBe('notes/birds.md:2: Crows count.');
      expect((await scene.use(listTool, { folder })).text).toBe('notes/birds.md (38)');
    }
  });

  it('[P10] grep states how many matching lines it omits', async () => {
    scene.put('many.md', 'hit\n'.repeat(80));
    const { text } = await scene.use(grepTool, { text: 'hit' });
    expect(text.split('\n')).toHaveLength(51);
    expect(text).toContain('the first 50 of 80 lines');
  });

  it('[G02] grep shows the part of a long line around the match', async () => {
    scene.put('wide.md', `${'a'.repeat(5_000)} needle ${'b'.repeat(5_000)}`);
    const { text } = await scene.use(grepTool, { text: 'needle' });
    expect(text).toContain('needle');
    expect(text.length).toBeLessThan(300);
  });
});

describe('write and edit', () => {
  it('[G02] write creates a new file and replaces an existing one', async () => {
    expect((await scene.use(write, { path: 'new/a.md', text: 'one' })).text).toContain('Made');
    expect((await scene.use(write, { path: 'new/a.md', text: 'two' })).text).toContain('Replaced');
    expect(scene.onDisk('new/a.md')).toBe(
      '---\naudience: owner # written by the agent\n---\n\ntwo\n',
    );
  });

  it('[W06] write refuses SOUL.md, and states the reason', async () => {
    const { text, failed } = await scene.use(write, { path: 'SOUL.md', text: 'I am evil' });
    expect(text).toContain('SOUL.md was not written');
    expect(failed).toBe(true);
  });

  it('[G02] edit replaces the only occurrence of a passage and shows the change', async () => {
    const change = { path: 'notes/birds.md', old: 'count.\nOwls', new: 'count to five.\nOwls' };
    expect(await scene.use(edit, change, 'owner', true)).toEqual({
      text: 'Changed notes/birds.md:\n@@ line 2\n-Crows count.\n-Owls sleep.\n+Crows count to five.\n+Owls sleep.',
    });
    expect(scene.onDisk('notes/birds.md')).toBe(
      'Parrots talk.\nCrows count to five.\nOwls sleep.\n',
    );
  });

  it('[W03] edit does not change the front matter', async () => {
    await scene.use(edit, { path: 'plans.md', old: 'heron-3', new: 'Rome' });
    expect(scene.onDisk('plans.md')).toMatch(/^---\naudience: owner\n---\n+We move to Rome\.\n$/);
  });

  it.each([
    ['that does not occur', 'Eagles', 'the passage is not in it. Read the file again.'],
    ['with other spaces', 'crows  count.', 'Line 2 is nearly the same: "Crows count."'],
    ['that occurs more than once', 's', 'times, at the lines 1, 2'],
  ])('[G02] edit leaves the file unchanged for a passage %s', async (_what, old, words) => {
    const { text, failed } = await scene.use(edit, { path: 'notes/birds.md', old, new: 'x' });
    expect(text).toContain(words);
    expect(failed).toBe(true);
    expect(scene.onDisk('notes/birds.md')).toBe(FILES['notes/birds.md']);
  });

  it('[G02] edit gives the same result as string replacement, at every position of the passage', async () => {
    const piece = fc.stringMatching(/^[a-z \n]{0,12}$/);
    await fc.assert(
      fc.asyncProperty(piece, piece, piece, async (before, after, replacement) => {
        const whole = `x${before}MARK${after}x`;
        scene.put('p.md', whole);
        const change = { path: 'p.md', old: 'MARK', new: replacement };
        await scene.use(edit, change, 'owner', true);
        expect(scene.onDisk('p.md')).toBe(`${whole.replace('MARK', () => replacement)}\n`);
      }),
      toRunOptions(60),
    );
  });
});

describe('a private file', () => {
  it('[W02] can be read by the owner with every tool', async () => {
    const seen = [
      await scene.use(readTool, { path: 'MEMORY.md' }),
      await scene.use(readTool, { path: 'memory/2026-11-21.md' }),
      await scene.use(grepTool, { text: 'heron-3' }),
      await scene.use(listTool, {}),
    ].map(({ text }) => text);
    expect(seen[0]).toContain('heron-1');
    expect(seen[1]).toContain('heron-2');
    expect(seen[2]).toContain('plans.md:1');
    expect(seen[3]).toContain('MEMORY.md');
  });

  it('[W02] [W03] cannot be read by a guest with any tool or argument', async () => {
    const path = fc.oneof(
      fc.constantFrom(...Object.keys(FILES)),
      fc
        .tuple(
          fc.constantFrom('', './', '././', 'notes/../', '~/', '/'),
          fc.constantFrom(
            'MEMORY.md',
            'memory.md',
            'ＭEMORY.md',
            'memory/2026-11-21.md',
            'plans.md',
          ),
          fc.constantFrom('', '.', ' ', '/', '::$DATA'),
        )
        .map((pieces) => pieces.join('')),
      fc.string({ minLength: 1, maxLength: 30 }),
    );
    const word = fc.constantFrom('heron', 'heron-1', 'safe', 'move', 'a', 'e', ' ');
    const ask = fc.oneof(
      fc.record({
        tool: fc.constant(readTool),
        input: fc.record({ path, offset: fc.constant(1) }),
      }),
      fc.record({ tool: fc.constant(listTool), input: fc.record({ folder: path }) }),
      fc.record({ tool: fc.constant(grepTool), input: fc.record({ text: word, folder: path }) }),
      fc.record({ tool: fc.constant(grepTool), input: fc.record({ text: word }) }),
    );
    await fc.assert(
      fc.asyncProperty(ask, async ({ tool, input }) => {
        const { text } = await scene.use(tool, input, 'guest');
        expect(text).not.toMatch(/heron|(plans|memory|21)\.md(:\d| \()/i);
      }),
      toRunOptions(300),
    );
  });

  it('[W02] looks like a missing file to a guest', async () => {
    const missing = await scene.use(readTool, { path: 'gone.md' }, 'guest');
    for (const path of ['MEMORY.md', 'plans.md']) {
      const answer = await scene.use(readTool, { path }, 'guest');
      expect(answer.text.replaceAll(path, 'gone.md')).toBe(missing.text);
    }
    expect((await scene.use(listTool, {}, 'guest')).text).toBe('notes/birds.md (38)');
  });
});

describe('paths as models write them', () => {
  it.each([
    ['a.md', 'a.md'],
    ['./a.md', 'a.md'],
    ['/data/w/notes/a.md', 'notes/a.md'],
    ['/data/wide/a.md', '/data/wide/a.md'],
    ['../a.md', '../a.md'],
  ])('%s', (path, expected) => expect(toWorkspacePath(path, '/data/w')).toBe(expected));

  it('[W03] do not reveal the home folder or the workspace’s folder to a guest', async () => {
    for (const path of ['~/x.md', '~/.ssh/id', `${scene.folder}x/a.md`, 'TOOLS.md', 'BOOT.md']) {
      scene.put('TOOLS.md', 'x'.repeat(1_000_001));
      const { text } = await scene.use(readTool, { path }, 'guest');
      expect(text.replace(path, '')).not.toMatch(new RegExp(`${homedir()}|${scene.folder}|large`));
    }
  });

  it('may start with the home folder as it appears in the prompt', () => {
    expect(toWorkspacePath('~/w/a.md', `${homedir()}/w`)).toBe('a.md');
  });
});
