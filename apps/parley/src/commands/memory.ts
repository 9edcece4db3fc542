import { createMemoryKeeper, type MemoryKeeper } from '@parley/agent';
import { type Reader, silentLogger } from '@parley/contracts';
import { openStore } from '@parley/store';
import { openMemorySearch, openWorkspace, type Workspace } from '@parley/workspace';
import type { DataFolder } from '../data-folder.ts';
import { readSettings } from '../read-settings.ts';
import { lockForCommand } from '../shared-lock.ts';
import { visible } from '../terminal/visible-text.ts';
import { WORKSPACE_TEMPLATES } from '../workspace-templates.ts';
import { type VersionOrder, versionsCommand } from './memory-versions.ts';

/** What `parley memory` is to do. */
export type MemoryOrder =
  | { readonly kind: 'list' }
  | { readonly kind: 'search'; readonly words: string }
  | { readonly kind: 'rebuild' }
  | VersionOrder;

type Print = (text: string) => void;

/** Whoever can read the data folder sees what its owner sees; what belongs to single chats is shown there. */
const OWNER: Reader = { kind: 'owner', conversationId: 'terminal' };
const HITS = 10;

/**
 * `parley memory list|search|rebuild|versions|diff|restore` (G14, H07): 0 fine, 1 nothing was found. It works
 * on files and database, so it does not matter whether a gateway runs.
 */
export async function memoryCommand(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  order: MemoryOrder,
  print: Print,
): Promise<number> {
  const { settings } = readSettings(folder, env);
  const store = await openStore({ url: settings.store.url ?? folder.storeUrl, clock: Date.now });
  try {
    const lock = lockForCommand(settings, store);
    const workspace = await openWorkspace({
      folder: settings.agent.workspace,
      templates: WORKSPACE_TEMPLATES,
      memory: settings.agent.memory ?? 'main-session',
      ...(lock !== undefined && { lock }),
    });
    const keeper = createMemoryKeeper({ index: store.memories, log: silentLogger });
    return await carryOut(order, { workspace, keeper, settings }, print);
  } finally {
    await store.close();
  }
}

interface Known extends Pick<ReturnType<typeof readSettings>, 'settings'> {
  readonly workspace: Workspace;
  readonly keeper: MemoryKeeper;
}

async function carryOut(
  order: MemoryOrder,
  { workspace, keeper, settings }: Known,
  print: Print,
): Promise<number> {
  const view = workspace.for(OWNER);
  switch (order.kind) {
    case 'list': {
      const all = await keeper.list(view);
      if (all.length === 0) print('Nothing is saved.');
      for (const { name, entry } of all) {
        const { id, type, date, person, text } = entry;
        print(visible([name, id, type, date ?? '-', person ?? '-', text].join('  ')));
      }
      return 0;
    }
    case 'search': {
      const search = openMemorySearch(workspace);
      const place = { conversation: OWNER.conversationId, session: 0 };
      const hits = await search.find(view, order.words, { ...place, most: HITS });
      for (const { source, text } of hits) print(visible(`${source}  ${text}`));
      if (hits.length === 0) print('Nothing was found.');
      return hits.length === 0 ? 1 : 0;
    }
    case 'rebuild': {
      const count = await keeper.rebuild(view);
      print(`The index holds ${count} ${count === 1 ? 'memory' : 'memories'} of memory/ now.`);
      return 0;
    }
    default: {
      if (view.versions !== undefined) {
        return versionsCommand(view.versions, order, { print, timeZone: settings.agent.timeZone });
      }
      print('Memory is switched off in the settings (agent.memory).');
      return 1;
    }
  }
}
