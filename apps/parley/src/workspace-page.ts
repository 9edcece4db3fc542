import type { MemoryChat } from '@parley/agent/memory';
import type { ChannelDefinition } from '@parley/channels';
import { agentOfConversation } from '@parley/core';
import type { WorkspacePage } from '@parley/gateway';
import type { Store } from '@parley/store';
import type { AgentParts } from './agent-parts.ts';
import { filesPage } from './files-page.ts';
import type { OpenLog, StartOptions } from './process-options.ts';
import { skillsPage } from './skills-page.ts';

/** Chats whose titles are looked up: those with the newest messages. */
const MAX_CHATS = 500;

/** The chats of an agent that have a memory file of their own, by its name. */
export function memoryChats(
  { workspace, place }: Pick<AgentParts['agent'], 'workspace' | 'place'>,
  { conversations }: Pick<Store, 'conversations'>,
) {
  return async (): Promise<ReadonlyMap<string, MemoryChat>> => {
    const files = new Set((await workspace.editor.list()).map(({ name }) => name));
    if (![...files].some((name) => name.startsWith('groups/'))) return new Map();
    const known = await conversations.list({ before: null, limit: MAX_CHATS });
    const own = known.filter(({ id }) => agentOfConversation(id) === place.name);
    return new Map(
      own.flatMap(({ id, title, chatType, channel, chatId }) => {
        const { groupMemory } = workspace.for({ kind: 'guest', conversationId: id });
        const person = chatType === 'direct' ? `${channel}:${chatId}` : null;
        return files.has(groupMemory) ? [[groupMemory, { title, conversationId: id, person }]] : [];
      }),
    );
  };
}

/** Files and skills of the agent for the page (U03). */
export function workspacePage(
  options: Pick<StartOptions, 'folder' | 'env' | 'clock'> & Pick<OpenLog, 'secrets'>,
  { agent, settings }: Pick<AgentParts, 'agent' | 'settings'>,
  store: Pick<Store, 'conversations'>,
  channels: readonly ChannelDefinition[],
): WorkspacePage {
  const { workspace, promptFiles, skills } = agent;
  const chats = memoryChats(agent, store);
  return {
    files: filesPage({ workspace, promptFiles, chats, scrub: options.secrets.scrub }),
    skills: skillsPage({ ...options, channels, skills, settings, name: agent.place.name }),
  };
}
