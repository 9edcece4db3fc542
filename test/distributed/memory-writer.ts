import { join } from 'node:path';
import { sharedLock } from '@parley/cli/shared-lock';
import { silentLogger, systemTime } from '@parley/core';
import { openStore } from '@parley/store';
import { Memories, openWorkspace } from '@parley/workspace';

/**
 * A worker in a process of its own, played by its memory: opens the workspace in `folder`, says which
 * templates it has copied, and saves so many memories, which begin with its name.
 */
const [folder = '', url = '', name = '', count = '0'] = process.argv.slice(2);
const store = await openStore({ url, clock: systemTime.clock });
const lock = sharedLock({
  leases: store.leases,
  name: 'workspace:main',
  owner: name,
  ...systemTime,
  log: silentLogger,
});
const templates = join(import.meta.dirname, '../../config/workspace');
const workspace = await openWorkspace({ folder, templates, lock });
process.stdout.write(`made ${workspace.created.join(' ')}\n`);
const memories = new Memories();
const view = workspace.for({ kind: 'owner', conversationId: name });
for (let i = 0; i < Number(count); i += 1) {
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
  if (saved.kind !== 'saved') process.stdout.write(`${JSON.stringify(saved)}\n`);
}
process.stdout.write('done\n');
await store.close();
