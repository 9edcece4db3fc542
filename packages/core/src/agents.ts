/**
 * Several agents in one gateway (F14). A conversation of a named agent has an id that begins with `@NAME/`; those of
 * the default agent have no such prefix. What is stored by conversation is thereby apart for each agent.
 */
const OF_AGENT = /^@([a-z0-9][a-z0-9-]*)\//;

/** The name of the agent to which a conversation belongs; undefined: the default one. */
export function agentOfConversation(id: string): string | undefined {
  return OF_AGENT.exec(id)?.[1];
}

/** The id under which an agent has a conversation; `id` may be that of another agent for the same place. */
export function conversationOfAgent(agent: string | undefined, id: string): string {
  const own = withoutAgent(id);
  return agent === undefined ? own : `@${agent}/${own}`;
}

/** The id as the default agent has it: a chat, or a lane such as `sub:…`. */
export function withoutAgent(id: string): string {
  return id.replace(OF_AGENT, '');
}
