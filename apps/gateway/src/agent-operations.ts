import { defineReadOperation } from '@parley/core';

/** An agent as shown to operators (F14). */
export interface AgentSummary {
  /** The agent's name in `routes` and in `?agent=`. */
  readonly name: string;
  /** The agent's name as shown in its chats. */
  readonly title: string;
  readonly emoji: string | null;
  readonly isDefault: boolean;
  /** The model that answers, as shown by `parley status`. */
  readonly model: string;
  readonly profile: string | null;
  /** The chats that the agent answers, such as `chat telegram:-100` or `everything else`. */
  readonly routes: readonly string[];
  /** The workspace path, which only owners see. */
  readonly workspace?: string;
  readonly owners?: readonly string[];
}

interface AgentOperationDeps {
  /** Lists all agents, starting with the default agent. */
  agents(): Promise<readonly AgentSummary[]>;
}

export const operations = {
  list: defineReadOperation(
    'List all agents and the chats they answer; only owners see folders, people and chats',
    {},
    async ({ agents }: AgentOperationDeps, _, { caller }) => {
      const all = await agents();
      return { agents: caller.role === 'owner' ? all : all.map(removePeople) };
    },
    { role: 'viewer' },
  ),
};

function removePeople(agent: AgentSummary): AgentSummary {
  const { workspace: _w, owners: _o, ...shown } = agent;
  return {
    ...shown,
    routes: shown.routes.map((rule) => rule.replace(/^(person|chat) .*/s, 'a $1')),
  };
}
