import type { ChannelDefinition } from '@parley/channels';
import { agentOfConversation } from '@parley/core';
import type { WorkspacePage } from '@parley/gateway';
import type { Store } from '@parley/store';
import type { AgentParts } from './agent-parts.ts';
import { filesPage } from './files-page.ts';
import { type MemoryChat, memoryPage } from './memory-page.ts';
import type { OpenLog, StartOptions } from './process-options.ts';
import { skillsPage } from './skills-page.ts';

/** Chats whose titles are looked up: those with the newest messages. */
const MOST_CHATS = 500;

/** Files, memories and skills of the agent for the page (U03). */
export function workspacePage(
  options: Pick<StartOptions, 'folder' | 'env' | 'clock'> & Pick<OpenLog, 'secrets'>,
  { agent, owners, settings }: Pick<AgentParts, 'agent' | 'owners' | 'settings'>,
  { conversations }: Pick<Store, 'conversations'>,
  channels: readonly ChannelDefinition[],
): WorkspacePage {
  const { workspace, promptFiles, skills, memory, memorySearch, memoryCommands } = agent;
  const chats = async (): Promise<ReadonlyMap<string, MemoryChat>> => {
    const files = new Set((await workspace.editor.list()).map(({ name }) => name));
    if (![...files].some((name) => name.startsWith('groups/'))) return new Map();
    const known = await conversations.list({ before: null, limit: MOST_CHATS });
    const own = known.filter(({ id }) => agentOfConversation(id) === agent.place.name);
    return new Map(
      own.flatMap(({ id, title, chatType, channel, chatId }) => {
        const { groupMemory } = workspace.for({ kind: 'guest', conversationId: id });
        const person = chatType === 'direct' ? `${channel}:${chatId}` : null;
        return files.has(groupMemory) ? [[groupMemory, { title, conversationId: id, person }]] : [];
      }),
    );
  };
  return {
    files: filesPage({ workspace, promptFiles, chats, scrub: options.secrets.scrub }),
    memory: memoryPage({
      ...{ workspace, chats, owners, service: memory, search: memorySearch },
      commands: memoryCommands,
    }),
    skills: skillsPage({ ...options, channels, skills, settings, name: agent.place.name }),
  };
}
