/**
 * Several agents in one gateway (F14). The id of a named agent's conversation begins with `@NAME/`;
 * conversations of the default agent have no such prefix. Therefore all data that is stored by
 * conversation is separate for each agent.
 */
const OF_AGENT = /^@([a-z0-9][a-z0-9-]*)\//;

/**
 * Returns the name of the agent that a conversation belongs to; undefined for the default agent.
 */
export function getConversationAgent(id: string): string | undefined {
  return OF_AGENT.exec(id)?.[1];
}

/**
 * Returns the id of an agent's conversation; `id` may belong to another agent's conversation in the
 * same chat.
 */
export function toAgentConversation(agent: string | undefined, id: string): string {
  const own = removeAgentPrefix(id);
  return agent === undefined ? own : `@${agent}/${own}`;
}

/** Returns the id without the agent's prefix: a chat, or a lane such as `sub:…`. */
export function removeAgentPrefix(id: string): string {
  return id.replace(OF_AGENT, '');
}
