import type { MessageMemory } from '@parley/channels';
import type { Reader } from '@parley/core';
import type { SavedMemory, Workspace, WorkspaceView } from '@parley/workspace';
import type { MemoryService } from './memory-service.ts';

export interface MemoryAsker {
  /** The person's id in Parley, such as `telegram:42`. */
  readonly person: string;
  readonly reader: Reader;
  readonly isGroup: boolean;
  readonly messageId: string;
}

export interface VisibleMemoryDeps {
  readonly service: Pick<MemoryService, 'list'>;
  readonly workspace: Pick<Workspace, 'for'>;
  readonly accountsOf: (person: string) => Promise<readonly string[]>;
}

/**
 * Returns all memories for an owner in their direct chat; for anyone else, those about the person.
 */
export async function listMemoriesFor(
  { service, accountsOf }: VisibleMemoryDeps,
  view: WorkspaceView,
  { person, reader, isGroup }: MemoryAsker,
): Promise<readonly SavedMemory[]> {
  const all = await service.list(view);
  if (reader.kind === 'owner') return all;
  const accounts = await accountsOf(person);
  return all.filter(({ entry }) =>
    entry.person === null ? !isGroup : accounts.includes(entry.person),
  );
}

/** Lists the memories that the asker may remove, with the messages that they were saved from. */
export async function listWithMessages(
  deps: VisibleMemoryDeps,
  asker: MemoryAsker,
): Promise<readonly MessageMemory[]> {
  const mine = await listMemoriesFor(deps, deps.workspace.for(asker.reader), asker);
  return mine.flatMap(toMessageMemory);
}

/** A memory with the file that contains it, for a person who may remove any. */
export interface FiledMemory extends MessageMemory {
  readonly file: string;
}

/** Lists all memories that a conversation's turns can have saved. */
export async function listMemoriesOfConversation(
  { service, workspace }: Omit<VisibleMemoryDeps, 'accountsOf'>,
  conversationId: string,
): Promise<readonly FiledMemory[]> {
  const found = new Map<string, FiledMemory>();
  for (const kind of ['owner', 'guest'] as const) {
    for (const memory of await service.list(workspace.for({ kind, conversationId }))) {
      const { name: file } = memory;
      for (const one of toMessageMemory(memory)) found.set(`${file} ${one.id}`, { ...one, file });
    }
  }
  return [...found.values()];
}

function toMessageMemory({
  entry: { id, text, from },
}: Pick<SavedMemory, 'entry'>): readonly MessageMemory[] {
  return from === null ? [] : [{ id, text, ...from }];
}
