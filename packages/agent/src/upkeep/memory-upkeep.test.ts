import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryFiles, openWorkspace } from '@parley/workspace';
import { afterEach, describe, expect, it } from 'vitest';
import { diffSouls } from '../soul/soul-text.ts';
import {
  createThirtyNotes,
  findItemId,
  MEMORY,
  openUpkeepScene,
  type ProposeChanges,
  type UpkeepScene,
} from './testing/upkeep-scene.ts';

const LANE = 'beat:main';
const OWNER = { kind: 'owner', conversationId: 'c' } as const;

let scene: UpkeepScene;
afterEach(() => scene.close());

async function open(propose: ProposeChanges, memory: string | null = MEMORY): Promise<void> {
  scene = await openUpkeepScene(propose);
  if (memory !== null) scene.put('MEMORY.md', memory);
  for (const { date, text } of createThirtyNotes()) scene.put(`memory/${date}.md`, text);
}

/** The proposal of a model that works well. The model must not be shown the skipped text. */
const proposal: ProposeChanges = (shown) => {
  const add = [
    'Bo moves to Graz',
    'Frau Öztürk',
    '小雨十二月二十日回家',
    'Eva Brandt',
    '小雨喜欢喝绿茶',
    'window seats',
    'N99',
  ].map((words) => ({ note: findItemId(shown, words), why: 'lasts' }));
  const remove = [
    { line: findItemId(shown, 'bis Ende Oktober gestrichen'), why: 'is done since 16 November' },
    { line: findItemId(shown, 'has to be inspected'), why: 'is done since 14 November' },
    { line: findItemId(shown, '2026-09-30'), same: findItemId(shown, 'Bo is my brother'), why: '' },
    { line: findItemId(shown, 'Never call me'), why: 'not needed' },
    { line: 'M77', why: 'made up' },
  ];
  return `Here it is:\n\`\`\`json\n${JSON.stringify({ add, remove })}\n\`\`\``;
};
const addsOne: ProposeChanges = (shown) => ({
  add: [{ note: findItemId(shown, 'Graz'), why: 'lasts' }],
});
const versionsOf = () => {
  const names = readdirSync(join(scene.turns.folder, '.parley/memory'));
  return names.filter((name) => name.endsWith('.md')).sort();
};

describe('memory upkeep', () => {
  it('[H07] updates MEMORY.md from thirty days of notes without sending a message', async () => {
    await open(proposal);
    const before = await scene.turns.owed();
    expect(await scene.run('b1')).toBe(
      'quiet: MEMORY.md: 4 added, 3 removed; 5 proposed changes refused',
    );
    const diff = diffSouls(MEMORY, scene.got('MEMORY.md'));
    await expect(`${diff}\n`).toMatchFileSnapshot('testing/thirty-days.diff');
    expect(await scene.turns.owed()).toEqual(before);
    expect(scene.turns.logged.join('\n')).toContain('4 added, 3 removed');
  });

  it('[H07] shows the model only the last seven notes, without text from other people', async () => {
    await open(proposal);
    await scene.run('b1');
    const [shown = ''] = scene.shown;
    const days = new Set(shown.match(/(?<=\[N\d+\] )\d{4}-\d\d-\d\d/g));
    expect([...days].at(0)).toBe('2026-11-15');
    expect(shown).not.toMatch(/Mallory|mallory|account number|14 November/);
    expect(shown).toContain('Today is 2026-11-21.');
  });

  it('[H07] reads as many notes and keeps as many tokens as the settings allow', async () => {
    scene = await openUpkeepScene(addsOne, { notes: 3, tokens: 100 });
    scene.put('MEMORY.md', MEMORY);
    for (const { date, text } of createThirtyNotes()) scene.put(`memory/${date}.md`, text);
    const end = await scene.run('b1');
    const [shown = ''] = scene.shown;
    const days = new Set(shown.match(/(?<=\[N\d+\] )\d{4}-\d\d-\d\d/g));
    expect([...days].at(0)).toMatch(/2026-11-(19|20)/);
    expect(shown).toMatch(/The page is too long by about \d+ tokens/);
    expect(end).toMatch(/[1-9]\d* removed/);
    expect(scene.got('MEMORY.md').length).toBeLessThan(MEMORY.length);
  });

  it('[H07] does not change anything when it runs again', async () => {
    await open(proposal);
    await scene.run('b1');
    const after = scene.got('MEMORY.md');
    expect(await scene.run('b2')).toMatch(/^quiet: MEMORY\.md: nothing to change/);
    expect(scene.got('MEMORY.md')).toBe(after);
  });

  it('[H07] keeps the previous version byte for byte, so that it can be restored', async () => {
    const written = `---\naudience: owner\n---\n${MEMORY.replaceAll('\n', '\r\n')}\r\n\r\n`;
    await open(proposal, written);
    await scene.run('b1');
    expect(scene.got('MEMORY.md')).toMatch(/^---\naudience: owner\n---\n/);
    const [first = '', second = ''] = versionsOf();
    expect(scene.got(`.parley/memory/${first}`)).toBe(written);
    expect(scene.got(`.parley/memory/${second}`)).toBe(scene.got('MEMORY.md'));
    expect(scene.got(`.parley/memory/${second.replace('.md', '.why')}`)).toContain(
      '- Die Küche wird bis Ende Oktober gestrichen. (is done since 16 November)',
    );
  });

  it('[H07] does not restore what a person removed', async () => {
    await open(addsOne);
    await scene.run('b1');
    expect(scene.got('MEMORY.md')).toContain('Graz');
    scene.put('MEMORY.md', MEMORY);
    expect(await scene.run('b2')).toContain('nothing to change');
    expect(scene.got('MEMORY.md')).toBe(MEMORY);
  });

  it('[H07] [W02] does not call a model for a group and never shows it MEMORY.md', async () => {
    await open(proposal);
    expect(await scene.run('b1', 'group')).toContain('only in the owner’s own chat');
    expect(scene.shown).toEqual([]);
    expect(scene.got('MEMORY.md')).toBe(MEMORY);
  });

  it('[H07] does not call a model when there are no notes', async () => {
    scene = await openUpkeepScene(proposal);
    scene.put('MEMORY.md', MEMORY);
    expect(await scene.run('b1')).toContain('no notes from the last days');
    expect(scene.shown).toEqual([]);
  });

  it('[H07] creates a missing MEMORY.md', async () => {
    await open(addsOne, null);
    expect(await scene.run('b1')).toContain('1 added');
    expect(scene.got('MEMORY.md')).toBe(
      '# Memory\n\n## From the daily notes\n\n- 2026-11-15: Bo moves to Graz on 1 December.\n',
    );
  });

  it('[H07] ignores an answer that is not a proposal, without notifying anyone', async () => {
    await open(() => 'I would rather not.');
    expect(await scene.run('b1')).toBe('unclear: the proposal for MEMORY.md was not JSON');
    expect(scene.got('MEMORY.md')).toBe(MEMORY);
  });
});

describe('interrupted memory upkeep', () => {
  it('[H07] [G16] does not change anything after losing its lane, and the next run does the work', async () => {
    await open(addsOne);
    await scene.order('b1');
    const first = await scene.turns.begin(LANE);
    scene.turns.later(20_000);
    const second = await scene.turns.begin(LANE);
    // The first run has lost its lane when its answer arrives, so it must not change anything.
    await scene.turns.run(first);
    expect(scene.got('MEMORY.md')).toBe(MEMORY);
    await scene.turns.run(second);
    expect(scene.got('MEMORY.md').match(/Graz/g)).toHaveLength(1);
  });

  it('[H07] [G16] does not add anything twice if the process died right after the write, and reports the changes', async () => {
    await open(addsOne);
    await scene.order('b1');
    const first = await scene.turns.begin(LANE);
    const { heartbeats } = scene.turns.store;
    const commit = heartbeats.commit;
    Object.assign(heartbeats, { commit: () => Promise.reject(new Error('killed')) });
    await expect(scene.turns.run(first)).rejects.toThrow('killed');
    Object.assign(heartbeats, { commit });
    const after = scene.got('MEMORY.md');
    expect(after).toContain('Graz');
    scene.turns.later(20_000);
    await scene.turns.answerNext(LANE);
    expect(await heartbeats.of('b1')).toMatchObject({ reason: 'MEMORY.md: 1 added, 0 removed' });
    expect(scene.got('MEMORY.md')).toBe(after);
    expect(scene.shown).toHaveLength(1);
    expect(versionsOf()).toHaveLength(2);
  });

  it('[H07] does not overwrite what a person wrote in the meantime', async () => {
    await open((shown) => {
      scene.put('MEMORY.md', `${MEMORY}\n- written by hand\n`);
      return addsOne(shown);
    });
    expect(await scene.run('b1')).toContain('changed in the meantime');
    expect(scene.got('MEMORY.md')).toContain('written by hand');
    expect(scene.got('MEMORY.md')).not.toContain('Graz');
  });

  it('[H07] does not change MEMORY.md if the previous version cannot be saved', async () => {
    await open(addsOne);
    scene.put('.parley/memory', 'a file in the place of the folder');
    expect(await scene.run('b1')).toMatch(/^failed: MEMORY\.md: /);
    expect(scene.got('MEMORY.md')).toBe(MEMORY);
  });
});

describe('forgetting', () => {
  it('[H07] [G15] includes earlier versions of MEMORY.md when forgetting', async () => {
    await open(addsOne);
    await scene.run('b1');
    const view = await ownersView();
    const removal = await new MemoryFiles().remove(
      view,
      () => false,
      (line) => line.includes('Graz'),
    );
    expect(removal.lines.map(({ name }) => name)).toContain('.parley/memory');
    for (const name of readdirSync(join(scene.turns.folder, '.parley/memory')))
      expect(scene.got(`.parley/memory/${name}`)).not.toContain('Graz');
  });

  it('[W02] allows only owners to read earlier versions of MEMORY.md', async () => {
    await open(addsOne);
    const { folder } = scene.turns;
    const workspace = await openWorkspace({ folder, templates: folder });
    expect(workspace.for({ kind: 'guest', conversationId: 'c' }).versions).toBeUndefined();
    const off = await openWorkspace({ folder, templates: folder, memory: 'off' });
    expect(off.for(OWNER).versions).toBeUndefined();
    expect(await workspace.for(OWNER).read('.parley/memory/x.md')).toMatchObject({
      reason: 'refused',
    });
  });
});

async function ownersView() {
  const { folder } = scene.turns;
  return (await openWorkspace({ folder, templates: folder })).for(OWNER);
}
