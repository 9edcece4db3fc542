import type { ChannelDefinition } from '@parley/channels';
import type { WorkspacePage } from '@parley/gateway';
import { filesPage } from './files-page.ts';
import { type MemoryChat, memoryPage } from './memory-page.ts';
import type { Parts } from './open-parts.ts';
import type { OpenLog, StartOptions } from './process-options.ts';
import { skillsPage } from './skills-page.ts';

/** Chats whose titles are looked up: those with the newest messages. */
const MOST_CHATS = 500;

/** Files, memories and skills of the agent for the page (U03). */
export function workspacePage(
  options: Pick<StartOptions, 'folder' | 'env' | 'clock'> & Pick<OpenLog, 'secrets'>,
  { agent, shared, owners, loaded }: Pick<Parts, 'agent' | 'shared' | 'owners' | 'loaded'>,
  channels: readonly ChannelDefinition[],
): WorkspacePage {
  const { workspace, promptFiles, skills, memory, memorySearch, memoryCommands } = agent;
  const chats = async (): Promise<ReadonlyMap<string, MemoryChat>> => {
    const files = new Set((await workspace.editor.list()).map(({ name }) => name));
    if (![...files].some((name) => name.startsWith('groups/'))) return new Map();
    const known = await shared.store.conversations.list({ before: null, limit: MOST_CHATS });
    return new Map(
      known.flatMap(({ id, title, chatType, channel, chatId }) => {
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
    skills: skillsPage({ ...options, channels, skills, settings: loaded.settings }),
  };
}
