import { agentOfConversation } from '@parley/core';
import type { Context, Hono } from 'hono';
import type { ShownAgent } from '../agent-operations.ts';
import type { AppEnv } from './access.ts';
import type { PromptInspector } from './api-routes.ts';

/** What each agent has for itself (F14). */
export interface AgentServices {
  readonly inspector: PromptInspector;
}

/** All agents of the settings. */
export interface AgentsPage {
  /** The default one first. */
  list(): readonly ShownAgent[];
  /** What a named one has; undefined: it is no agent besides the default one. */
  named(name: string): AgentServices | undefined;
}

/** Whose a conversation is, by the name in routes. */
export function agentNameOf(
  agents: Pick<AgentsPage, 'list'> | undefined,
  conversationId: string,
): string {
  const usual = () => agents?.list().find(({ isDefault }) => isDefault)?.name;
  return agentOfConversation(conversationId) ?? usual() ?? 'main';
}

/** A service of the agent that a request names with `?agent=NAME`: without it, of the default one. */
export type Own<Service> = (c: Context<AppEnv>) => Service;

/** The service of that name, as it was looked up for this request. */
export function ownService<Name extends keyof AgentServices>(
  name: Name,
): Own<NonNullable<AgentServices[Name]>> {
  return (c) => {
    const service = c.get('agent')[name];
    if (service === undefined) throw new Error(`There is no service ${name} of this agent.`);
    return service;
  };
}

/** Looks up, once for all routes of the API, what the agent has that a request names. */
export function addAgents(
  app: Hono<AppEnv>,
  usual: AgentServices,
  agents: AgentsPage | undefined,
): void {
  app.use('/api/*', async (c, next) => {
    const asked = c.req.query('agent');
    const found = asked === undefined ? usual : servicesOf(asked, usual, agents);
    if (found === undefined) return c.json({ error: noAgent(asked ?? '', agents) }, 404);
    c.set('agent', found);
    return next();
  });
}

function servicesOf(
  name: string,
  usual: AgentServices,
  agents: AgentsPage | undefined,
): AgentServices | undefined {
  const isDefault = agents?.list().some((one) => one.name === name && one.isDefault);
  return isDefault ? usual : agents?.named(name);
}

function noAgent(name: string, agents: AgentsPage | undefined): string {
  const names = (agents?.list() ?? []).map((one) => one.name).join(', ');
  const known = names === '' ? '' : ` There is ${names}.`;
  return `There is no agent ${JSON.stringify(name.slice(0, 100))}.${known}`;
}
