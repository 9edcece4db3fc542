import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createPromptFiles } from '@parley/workspace';
import { afterEach, describe, expect, it } from 'vitest';
import {
  listToolMessages,
  openTurnScene,
  type SceneOptions,
  type TurnScene,
} from '../testing/turn-scene.ts';
import { decideAsOwner } from '../testing/write-message.ts';
import { createEditTool, createWriteTool } from '../tools/write-files.ts';
import { formatArguments } from './shown-arguments.ts';

let scene: TurnScene;
afterEach(() => scene.close());

const EVERYONE = '---\naudience: everyone\n---\n';
const FILES = createPromptFiles([
  'AGENTS.md',
  'USER.md',
  'MEMORY.md',
  'memory/',
  'knowledge/',
  'skills/',
]);
const OWNER = '---\naudience: owner\n---\n';

/** Opens a scene with the given files and a request by the owner. */
async function open(files: Record<string, string>, extras: SceneOptions = {}): Promise<void> {
  scene = await openTurnScene(
    {},
    { tools: [createWriteTool(FILES), createEditTool(FILES)], ...extras },
  );
  for (const [name, text] of Object.entries(files)) put(name, text);
  await scene.write('note it');
}
function put(name: string, text: string): void {
  mkdirSync(dirname(join(scene.folder, name)), { recursive: true });
  writeFileSync(join(scene.folder, name), text);
}
const onDisk = (name: string) => readFileSync(join(scene.folder, name), 'utf8');
const write = (path: string, text: string) => ({
  calls: [{ name: 'write', with: { path, text } }],
});
const edit = (path: string, old: string, into: string) => ({
  calls: [{ name: 'edit', with: { path, old, new: into } }],
});
const heard = () => listToolMessages(scene.model.asked.at(-1)).at(-1)?.content;
const asked = async () => (await scene.store.approvals.recent(1))[0]?.shown ?? '';

describe('[W09] a write in an owner’s turn without text from outsiders', () => {
  it.each([
    ['a new note', write('notes/new.md', 'x'), 'answered'],
    ['a note of the owner’s', edit('notes/mine.md', 'old', 'new'), 'answered'],
    ['memory', write('memory/2026-11-21.md', 'x'), 'answered'],
    ['USER.md, which is marked as the owner’s', write('USER.md', 'x'), 'answered'],
    ['an open note', write('notes/open.md', 'x'), 'suspended'],
    ['a passage of an open note', edit('notes/open.md', 'old', 'new'), 'suspended'],
    ['a new open note', write('notes/new.md', `${EVERYONE}x`), 'suspended'],
    ['a private note that becomes open', write('notes/mine.md', `${EVERYONE}x`), 'suspended'],
    ['AGENTS.md', edit('AGENTS.md', 'old', 'new'), 'suspended'],
    ['a new skill', write('skills/tea/SKILL.md', 'x'), 'suspended'],
  ])(
    'asks before %s if others can read the file or the file becomes prompt text',
    async (_what, call, ended) => {
      await open({
        'notes/mine.md': `${OWNER}old`,
        'notes/open.md': 'old',
        'USER.md': `${OWNER}old`,
        'AGENTS.md': 'old',
      });
      scene.model.next(call, { say: 'Done.' });
      await scene.answerNext();
      expect(scene.outcome()).toBe(ended);
    },
  );

  it('shows the path and the whole new text, even for an edit, and writes exactly that text', async () => {
    await open({ 'notes/open.md': `${EVERYONE}first line\nold` });
    scene.model.next(edit('./notes/open.md', 'old', 'canary'), { say: 'Done.' });
    await scene.answerNext();
    const whole = `${EVERYONE}\nfirst line\ncanary\n`;
    expect(await asked()).toBe(
      formatArguments({
        path: 'notes/open.md',
        readers: 'everyone, as before',
        whole_file: whole,
      }),
    );
    await decideAsOwner(scene.store, 'approved');
    await scene.answerNext();
    expect(onDisk('notes/open.md')).toBe(whole);
    expect(heard()).toContain('Changed notes/open.md');
  });

  it('does not write if the file has changed since the approval', async () => {
    await open({ 'notes/open.md': 'first line\nold' });
    scene.model.next(edit('notes/open.md', 'old', 'new'), { say: 'Then not.' });
    await scene.answerNext();
    put('notes/open.md', 'another line\nold');
    await decideAsOwner(scene.store, 'approved');
    await scene.answerNext();
    expect(onDisk('notes/open.md')).toBe('another line\nold');
    expect(heard()).toContain('no longer what was approved');
  });

  it.each([
    ['write:notes/open.md', 'answered'],
    ['write:notes/*', 'suspended'],
    ['write', 'suspended'],
  ])('applies the rule %s to %s: %s', async (rule, ended) => {
    await open({ 'notes/open.md': 'old' }, { approvals: { auto: [rule] } });
    scene.model.next(write('notes/open.md', 'new'), { say: 'Done.' });
    await scene.answerNext();
    expect(scene.outcome()).toBe(ended);
    expect(onDisk('notes/open.md')).toBe(ended === 'answered' ? 'new\n' : 'old');
    expect((await scene.store.approvals.recent(1))[0]?.state).toBe(
      ended === 'answered' ? 'auto' : 'pending',
    );
  });

  it('[G07] refuses a sub-agent’s write under every rule, because there is no approver to ask', async () => {
    const approvals = { auto: ['write:notes/open.md'] };
    await open({ 'notes/open.md': 'old' }, { delegates: true, approvals });
    const task = { title: 'tea', task: 'note it' };
    scene.model.next({ calls: [{ name: 'delegate_task', with: task }] }, { say: 'under way' });
    await scene.answerNext();
    scene.model.next(
      write('notes/open.md', 'canary'),
      write('knowledge/tea.md', 'canary'),
      write('notes/new.md', 'canary'),
      { say: 'No.' },
    );
    await scene.answerNext(scene.woken.find((one) => one.startsWith('sub:')));
    const results = listToolMessages(scene.model.asked.at(-1)).map(({ content }) => content);
    expect(results).toEqual([
      expect.stringContaining('no approver can be asked'),
      expect.stringContaining('no approver can be asked'),
      expect.stringContaining('Made notes/new.md'),
    ]);
    expect(onDisk('notes/new.md')).toContain('audience: owner');
  });
});
