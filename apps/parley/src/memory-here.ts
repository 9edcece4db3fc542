import type { OperatorMemory } from '@parley/agent/memory';
import { MemoryService } from '@parley/agent/memory-service';
import { silentLogger } from '@parley/core';
import type { Store } from '@parley/store';
import { openMemorySearch } from '@parley/workspace';
import { listMemoryChats } from './memory-chats.ts';
import type { ChosenAgent } from './settings.ts';
import { openWorkspaceForCommand } from './shared-lock.ts';

/** Opens an agent's files for a command, whether or not a gateway is running. */
export async function openFilesForCommand(store: Store, { name, settings }: ChosenAgent) {
  const { workspace } = await openWorkspaceForCommand(settings, store);
  return { workspace, chats: listMemoryChats(workspace, name, store) };
}

/**
 * Opens an agent's memories for a command. Commands cannot delete memories without a running
 * gateway, because the gateway may be using them.
 */
export async function openMemoryForCommand(
  store: Store,
  agent: ChosenAgent,
): Promise<OperatorMemory> {
  const files = await openFilesForCommand(store, agent);
  const { owners, agent: its } = agent.settings;
  if (its.memory === 'off') return { ...files, owners };
  const index = store.ofAgent(agent.name).memories;
  const service = new MemoryService({ index, log: silentLogger });
  return { ...files, owners, service, search: openMemorySearch(files.workspace) };
}
