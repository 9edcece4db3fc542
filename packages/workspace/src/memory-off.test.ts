import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Reader } from '@parley/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWorkspace } from './open-workspace.ts';

const TEMPLATES = join(import.meta.dirname, '../../../config/workspace');
const OWNER: Reader = { kind: 'owner', conversationId: 'c1' };
const GUEST: Reader = { kind: 'guest', conversationId: 'c2' };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-memory-'));
  const open = await openWorkspace({ folder, templates: TEMPLATES });
  await mkdir(join(folder, 'memory'), { recursive: true });
  await writeFile(join(folder, 'MEMORY.md'), 'canary');
  await writeFile(join(folder, 'memory/2026-11-21.md'), 'canary');
  await writeFile(join(folder, 'AGENTS.md'), 'How you work here.');
  await open.for(GUEST).write(open.for(GUEST).groupMemory, 'canary');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function seenBy(reader: Reader, memory: 'main-session' | 'off'): Promise<string[]> {
  const view = (await openWorkspace({ folder, templates: TEMPLATES, memory })).for(reader);
  const listed = (await view.list()).map(({ name }) => name);
  const names = [...listed, 'MEMORY.md', 'memory/2026-11-21.md', view.groupMemory];
  const files = await Promise.all([...new Set(names)].map((name) => view.read(name)));
  return files.flatMap((file) => (file.kind === 'file' ? [file.source] : []));
}

describe('a workspace without memory', () => {
  it('[P15] [W02] shows no memory to anyone, the owner included, and everything else as ever', async () => {
    for (const reader of [OWNER, GUEST]) {
      const seen = await seenBy(reader, 'off');
      expect(seen).toContain('AGENTS.md');
      expect(seen.filter((name) => /memory|groups/i.test(name))).toEqual([]);
    }
  });

  it('[W02] [W04] shows the owner theirs and a group its own where memory is on', async () => {
    expect(await seenBy(OWNER, 'main-session')).toEqual(
      expect.arrayContaining(['MEMORY.md', 'memory/2026-11-21.md']),
    );
    const group = await seenBy(GUEST, 'main-session');
    expect(group.filter((name) => /memory|groups/i.test(name))).toHaveLength(1);
  });
});
