import { read } from '@parley/core';

/** One of the agents, as operators see it (F14). */
export interface ShownAgent {
  /** The name used in `routes` and in `?agent=`. */
  readonly name: string;
  /** The name shown in its chats. */
  readonly title: string;
  readonly emoji: string | null;
  readonly isDefault: boolean;
  /** The model that answers, as `parley status` shows it. */
  readonly model: string;
  readonly profile: string | null;
  /** The chats it answers, such as `chat telegram:-100` or `everything else`. */
  readonly routes: readonly string[];
  /** Shown only to owners, like the people that the agent belongs to. */
  readonly workspace?: string;
  readonly owners?: readonly string[];
}

interface AgentNeeds {
  /** All agents, starting with the default one. */
  agents(): Promise<readonly ShownAgent[]>;
}

export const operations = {
  list: read(
    'All agents and the chats that each answers; folders, people and chats for owners only',
    {},
    async ({ agents }: AgentNeeds, _, { caller }) => {
      const all = await agents();
      return { agents: caller.role === 'owner' ? all : all.map(removePeople) };
    },
    { role: 'viewer' },
  ),
};

function removePeople(agent: ShownAgent): ShownAgent {
  const { workspace: _w, owners: _o, ...shown } = agent;
  return {
    ...shown,
    routes: shown.routes.map((rule) => rule.replace(/^(person|chat) .*/s, 'a $1')),
  };
}
