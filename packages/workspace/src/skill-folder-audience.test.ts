import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWorkspace, type Workspace } from './open-workspace.ts';

const OWNER = { kind: 'owner', conversationId: 'direct' } as const;
const GUEST = { kind: 'guest', conversationId: 'group' } as const;
let base: string;
let workspace: Workspace;

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'parley-skill-audience-'));
  workspace = await openWorkspace({ folder: join(base, 'workspace'), templates: base });
  await put(
    'skills/diary/SKILL.md',
    '---\nname: diary\ndescription: d\naudience: owner\n---\nWrite.',
  );
  await put('skills/diary/references/people.md', 'Ann is afraid of geese.');
  await put('skills/more/broken/SKILL.md', '---\naudience: [\n---\nWrite.');
  await put('skills/more/broken/notes.md', 'The key is under the mat.');
  await put('skills/cooking/SKILL.md', '---\nname: cooking\ndescription: d\n---\nCook.');
  await put('skills/cooking/references/soups.md', 'Leek, potato.');
  await put('skills/linked/notes.md', 'The alarm is 1234.');
  await symlink('../diary/SKILL.md', join(workspace.folder, 'skills/linked/SKILL.md'));
});
afterAll(() => rm(base, { recursive: true, force: true }));

async function put(name: string, text: string): Promise<void> {
  const path = join(workspace.folder, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

describe('the folder of a skill that is the owner’s', () => {
  it.each([
    'skills/diary/references/people.md',
    'skills/more/broken/notes.md',
    'skills/linked/notes.md',
  ])('[W03] keeps %s with the owner', async (name) => {
    expect(await workspace.for(OWNER).read(name)).toMatchObject({ audience: { kind: 'owner' } });
    expect(await workspace.for(GUEST).read(name)).toEqual({ kind: 'absent', reason: 'private' });
    const listed = (await workspace.for(GUEST).list()).map((entry) => entry.name);
    expect(listed).not.toContain(name);
  });

  it('[W03] takes nothing from the skills that are everyone’s', async () => {
    const file = await workspace.for(GUEST).read('skills/cooking/references/soups.md');
    expect(file).toMatchObject({ text: 'Leek, potato.', audience: { kind: 'everyone' } });
  });
});
