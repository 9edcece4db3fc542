import { silentLogger } from '@parley/core';
import { createRecordingLogger } from '@parley/core/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPromptFiles, restrictView } from './prompt-files.ts';
import type { WorkspaceView } from './workspace-view.ts';

const READS = ['AGENTS.md', 'heartbeat-state.json', 'formats/', 'my/skills/', 'SOUL.md'];

/** Creates a view in which every file exists, and records the requested names. */
function everyFile(): { view: WorkspaceView; asked: string[] } {
  const asked: string[] = [];
  const audience = { kind: 'everyone' } as const;
  const view: WorkspaceView = {
    reader: { kind: 'owner', conversationId: 'c' },
    groupMemory: 'groups/c.md',
    async read(name) {
      asked.push(name);
      return { kind: 'file', text: name, source: name, audience, characters: 1, cut: null };
    },
    async readBytes(name) {
      asked.push(name);
      return { bytes: new Uint8Array() };
    },
    list: async () => ['AGENTS.md', 'notes/a.md'].map((name) => ({ name, characters: 1 })),
    async write(name) {
      asked.push(name);
      return { kind: 'written', name, characters: 1, created: true };
    },
    async change(name) {
      asked.push(name);
      return { kind: 'written', name, characters: 1, created: true };
    },
    async plan(name) {
      asked.push(name);
      return { kind: 'unchanged' };
    },
  };
  return { view, asked };
}

describe('files that become prompt text', () => {
  it.each([
    ['AGENTS.md', true],
    ['./agents.MD', true],
    ['notes/../AGENTS.md', true],
    ['notes/..//agents.md', true],
    ['notes\\..\\AGENTS.md', true],
    ['/home/ada/parley/workspace/AGENTS.md', true],
    ['ＡＧＥＮＴＳ.md', true],
    ['AGE\u200bNTS.md', true],
    ['AGE\u034fNTS.md', true],
    ['AGENTS.md ', true],
    ['AGENTS.md.', true],
    ['AGENTS.md::$DATA', true],
    ['~/w/Heartbeat-State.JSON', true],
    ['formats/telegram.md', true],
    ['ﬀ/../ﬁles/../Formats/x/y.md', true],
    ['formatſ/telegram.md', true],
    ['formats', true],
    ['my/skills/tea/steps.txt', true],
    ['my/x/../skills/tea/SKILL.md', true],
    ['my/./skills/SKILL.md', true],
    ['notes/agents.txt', false],
    ['my/notes/skills.md', false],
    ['notes/today.md', false],
    // Tools cannot write SOUL.md (W06).
    ['SOUL.md', false],
  ])('[W09] [G05] %s: %s', (path, is) => {
    expect(createPromptFiles(READS).includes(path)).toBe(is);
  });

  it('[W09] lists all files that a part of a prompt can read, in any spelling', () => {
    const files = createPromptFiles(READS);
    const { view } = everyFile();
    const restricted = restrictView(view, { id: 'part', reads: READS }, silentLogger);
    const segment = fc.constantFrom(
      'agents.md',
      'AGENTS.md',
      'formats',
      'my',
      'skills',
      'a.md',
      '..',
    );
    const before = fc.array(fc.constantFrom('.', '..', 'notes', ''), { maxLength: 4 });
    const path = fc.array(segment, { minLength: 1, maxLength: 4 });
    return fc.assert(
      fc.asyncProperty(path, before, fc.boolean(), async (segments, steps, isLow) => {
        const name = segments.join('/');
        if ((await restricted.read(name)).kind === 'absent') return;
        const spelled = [...steps, name].join('/');
        expect(files.includes(isLow ? spelled.toLowerCase() : spelled)).toBe(true);
      }),
    );
  });

  it('[W09] does not show a part undeclared files, and logs the attempt', async () => {
    const { view, asked } = everyFile();
    const { log, lines } = createRecordingLogger();
    const restricted = restrictView(view, { id: 'nosy', reads: ['AGENTS.md', 'formats/'] }, log);
    const names = ['AGENTS.md', 'formats/a.md', 'agents.md', 'formats', 'notes/a.md', 'MEMORY.md'];
    const found = await Promise.all(names.map((name) => restricted.read(name)));
    expect(found.map(({ kind }) => kind)).toEqual([
      ...['file', 'file'],
      ...['absent', 'absent', 'absent', 'absent'],
    ]);
    expect(await restricted.write('notes/a.md', 'x')).toMatchObject({ kind: 'refused' });
    expect(await restricted.change('notes/a.md', () => 'x')).toMatchObject({ kind: 'refused' });
    expect(asked).toEqual(['AGENTS.md', 'formats/a.md']);
    expect(await restricted.list()).toEqual([{ name: 'AGENTS.md', characters: 1 }]);
    expect(lines).toHaveLength(6);
    expect(lines[0]).toContain('"part":"nosy","file":"agents.md"');
    expect((await restrictView(view, { id: 'none' }, log).read('AGENTS.md')).kind).toBe('absent');
  });

  it('[W09] keeps a view restricted when a plugin detaches its methods or copies it', async () => {
    const { view, asked } = everyFile();
    const restricted = restrictView(view, { id: 'part', reads: ['AGENTS.md'] }, silentLogger);
    const { read, list, write, change, plan } = restricted;
    for (const name of ['AGENTS.md', 'notes/a.md']) {
      await Promise.all([read(name), write(name, 'x'), change(name, () => 'x')]);
      await plan(name, () => 'x');
    }
    expect(asked).toEqual(Array(4).fill('AGENTS.md'));
    expect(await list()).toEqual([{ name: 'AGENTS.md', characters: 1 }]);
    const copy = { ...restricted };
    expect(copy).toMatchObject({ reader: view.reader, groupMemory: view.groupMemory });
    expect((await copy.read('AGENTS.md')).kind).toBe('file');
    expect((await copy.read('notes/a.md')).kind).toBe('absent');
  });

  it('[W09] lists prompt files once, files before folders', () => {
    const { patterns } = createPromptFiles(['skills/', 'B.md', 'A.md', 'skills/', 'formats/']);
    expect(patterns).toEqual(['A.md', 'B.md', 'formats/', 'skills/']);
  });
});
