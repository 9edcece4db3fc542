import { join } from 'node:path';
import { createSharedLock } from '@parley/cli/shared-lock';
import { silentLogger, systemTime } from '@parley/core';
import { openStore } from '@parley/store';
import { MemoryFiles, openWorkspace } from '@parley/workspace';

/** The options of a worker that saves memories. */
interface MemoryWriterOptions {
  /** The workspace folder. */
  readonly folder: string;
  /** The URL of the database that all workers share. */
  readonly url: string;
  /** The prefix of each memory. */
  readonly name: string;
  readonly count: number;
}

/**
 * Uses memory as a worker does, with separate connections and a separate lock: opens the workspace,
 * reports which templates it has copied, and saves the given number of memories.
 */
export async function writeMemories(
  { folder, url, name, count }: MemoryWriterOptions,
  say: (line: string) => void,
): Promise<void> {
  const store = await openStore({ url, clock: systemTime.clock });
  const lock = createSharedLock({
    leases: store.leases,
    name: 'workspace:main',
    owner: name,
    ...systemTime,
    log: silentLogger,
  });
  const templates = join(import.meta.dirname, '../../config/workspace');
  const workspace = await openWorkspace({ folder, templates, lock });
  say(`made ${workspace.created.join(' ')}`);
  const memories = new MemoryFiles();
  const view = workspace.for({ kind: 'owner', conversationId: name });
  for (let i = 0; i < count; i += 1) {
    const saved = await memories.save(view, {
      id: `${name}${String(i).padStart(6, '0')}`,
      type: 'fact',
      scope: 'project',
      text: `${name} knows ${i}`,
      person: null,
      date: null,
      words: 'own',
      from: null,
      automatic: false,
    });
    if (saved.kind !== 'saved') say(JSON.stringify(saved));
  }
  say('done');
  await store.close();
}
