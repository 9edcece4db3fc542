import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Reader } from '@parley/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWorkspace, type Workspace } from './open-workspace.ts';
import { estimateTokens } from './text.ts';

const TEMPLATES = join(import.meta.dirname, '../../../config/workspace');
const OWNER: Reader = { kind: 'owner', conversationId: 'c' };
const GUEST: Reader = { kind: 'guest', conversationId: 'd' };

let folder: string;
let workspace: Workspace;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-templates-'));
  workspace = await openWorkspace({ folder: join(folder, 'w'), templates: TEMPLATES });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the files a new workspace starts with', () => {
  it.each(['IDENTITY.md', 'USER.md', 'TOOLS.md', 'MEMORY.md', 'HEARTBEAT.md', 'BOOT.md'])(
    '[W01] %s costs no token before somebody fills it in',
    async (name) => {
      expect(await workspace.for(OWNER).read(name)).toEqual({ kind: 'absent', reason: 'empty' });
    },
  );

  it('[P09] AGENTS.md and SOUL.md leave most of 3,000 tokens to the rest of the prompt', async () => {
    let tokens = 0;
    for (const name of ['AGENTS.md', 'SOUL.md']) {
      const file = await workspace.for(GUEST).read(name);
      tokens += file.kind === 'file' ? estimateTokens(file.text) : Number.POSITIVE_INFINITY;
    }
    expect(tokens).toBeLessThan(900);
  });

  it('[W03] what is said in USER.md stays with the owner', async () => {
    const path = join(folder, 'w', 'USER.md');
    await writeFile(path, (await readFile(path, 'utf8')).replace('**Name:**', '**Name:** Ann'));
    expect(await workspace.for(OWNER).read('USER.md')).toMatchObject({ kind: 'file' });
    expect(await workspace.for(GUEST).read('USER.md')).toMatchObject({ reason: 'private' });
  });

  it.each(['mail', 'calendar', 'progress', 'health', 'memory'])(
    '[H06] %s is among the example tasks',
    async (task) => {
      const heartbeat = await readFile(join(TEMPLATES, 'HEARTBEAT.md'), 'utf8');
      expect(heartbeat).toContain(`\n## ${task}\n- every: `);
    },
  );
});
