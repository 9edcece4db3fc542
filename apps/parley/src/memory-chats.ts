import type { MemoryChat } from '@parley/agent/memory';
import { getConversationAgent } from '@parley/core';
import type { Store } from '@parley/store';
import type { Workspace } from '@parley/workspace';

/** The maximum number of chats, starting with the most recent, whose titles are looked up. */
const MAX_CHATS = 500;

/** Lists an agent's chats, keyed by the names of their memory files. */
export function listMemoryChats(
  workspace: Workspace,
  agent: string | undefined,
  { conversations }: Pick<Store, 'conversations'>,
) {
  return async (): Promise<ReadonlyMap<string, MemoryChat>> => {
    const files = new Set((await workspace.editor.list()).map(({ name }) => name));
    if (![...files].some((name) => name.startsWith('groups/'))) return new Map();
    const known = await conversations.list({ before: null, limit: MAX_CHATS });
    const own = known.filter(({ id }) => getConversationAgent(id) === agent);
    return new Map(
      own.flatMap(({ id, title, chatType, channel, chatId }) => {
        const { groupMemory } = workspace.for({ kind: 'guest', conversationId: id });
        const person = chatType === 'direct' ? `${channel}:${chatId}` : null;
        return files.has(groupMemory) ? [[groupMemory, { title, conversationId: id, person }]] : [];
      }),
    );
  };
}
