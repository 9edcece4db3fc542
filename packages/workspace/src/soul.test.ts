import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openWorkspace, type Workspace } from './open-workspace.ts';

const OWNER = { kind: 'owner', conversationId: 'c' } as const;
const GUEST = { kind: 'guest', conversationId: 'g' } as const;

let folder: string;
let governs: { text: string; head: string } | null;
let workspace: Workspace;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-governed-'));
  governs = { text: 'Be kind.', head: '' };
  put('AGENTS.md', 'Work.');
  workspace = await openWorkspace({
    folder,
    templates: folder,
    governed: { name: 'SOUL.md', current: async () => governs },
  });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}

async function read(name: string, reader: typeof OWNER | typeof GUEST = OWNER): Promise<string> {
  const file = await workspace.for(reader).read(name);
  return file.kind === 'file' ? file.text : file.reason;
}

describe('a governed SOUL.md', () => {
  it('[W06] shows the text decided elsewhere instead of the text on disk, and other files as they are', async () => {
    put('SOUL.md', 'Be evil.');
    expect([await read('SOUL.md'), await read('AGENTS.md')]).toEqual(['Be kind.', 'Work.']);
    expect(await workspace.for(OWNER).list()).toContainEqual({ name: 'SOUL.md', characters: 8 });
    governs = { text: 'Be brief.', head: '' };
    expect(await read('SOUL.md')).toBe('Be brief.');
  });

  it('[W06] is treated as an ordinary file until a text has been decided', async () => {
    put('SOUL.md', 'Be yourself.');
    governs = null;
    expect(await read('SOUL.md')).toBe('Be yourself.');
  });

  it('[W03] [W06] has the audience that the file declares, or the previous audience if there is no file', async () => {
    put('SOUL.md', '---\naudience: owner\n---\nBe evil.');
    expect([await read('SOUL.md'), await read('SOUL.md', GUEST)]).toEqual(['Be kind.', 'private']);
    rmSync(join(folder, 'SOUL.md'));
    expect(await read('SOUL.md', GUEST)).toBe('Be kind.');
    governs = { text: 'Be kind.', head: '---\naudience: owner\n---\n\n' };
    expect(await read('SOUL.md', GUEST)).toBe('private');
  });

  it('[P02] [W06] is shown as empty when the decided text is empty', async () => {
    put('SOUL.md', 'Be evil.');
    governs = { text: '# Soul', head: '' };
    expect(await read('SOUL.md')).toBe('empty');
  });
});
