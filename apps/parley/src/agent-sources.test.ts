import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@parley/core';
import { createLocalBus } from '@parley/queue';
import { openMemoryStore } from '@parley/store/testing';
import { openWorkspace } from '@parley/workspace';
import { expect, it, onTestFinished } from 'vitest';
import { openMemory } from './agent-sources.ts';

it('[G15] lets people delete their messages even if memory is off', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-memory-'));
  const store = await openMemoryStore({ clock: () => 0 });
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  const workspace = await openWorkspace({ folder: join(folder, 'w'), templates: folder });
  const durable = { store, bus: createLocalBus(silentLogger) };
  const { parts } = openMemory(workspace, 'off', {
    offers: () => false,
    durable,
    log: silentLogger,
  });
  expect(parts.memoryCommands?.show).toBeUndefined();
  const reader = { kind: 'owner', conversationId: 'web:c' } as const;
  const asker = { person: 'web:ada', reader, isGroup: false };
  await parts.memoryCommands?.forget?.({ ...asker, messageId: '1' }, 'all');
  expect(await parts.memoryCommands?.forget?.({ ...asker, messageId: '2' }, 'all')).toContain(
    '0 messages of yours',
  );
});
