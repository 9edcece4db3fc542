import type { AgentSummary } from '@parley/gateway';
import { describeRoute } from '@parley/settings';
import { listOwners } from './access.ts';
import { type ChosenAgent, type LoadedSettings, listAgents } from './settings.ts';

interface RunningAgent {
  readonly agent: { readonly name: string; readonly emoji?: string | undefined };
  readonly model: { readonly line: () => string };
}

/**
 * Lists all agents as shown on the page and the command line (F14). `running` returns the agent
 * with the given name, or the default one without a name.
 */
export function listAgentSummaries(
  loaded: Pick<LoadedSettings, 'settings' | 'agents'>,
  running?: (name: string | undefined) => RunningAgent | undefined,
): readonly AgentSummary[] {
  return listAgents(loaded).map((one) => {
    const { agent } = one.settings;
    const { name: isKnown, profile = null, workspace } = agent;
    const now = running?.(one.name);
    return {
      name: agent.id,
      title: now?.agent.name ?? isKnown ?? agent.id,
      emoji: now?.agent.emoji ?? agent.emoji ?? null,
      isDefault: one.name === undefined,
      model: now?.model.line() ?? getModelName(one.settings),
      ...{ profile, workspace, routes: describeAgentRules(one, loaded.settings) },
      owners: listOwners(one.settings),
    };
  });
}

/**
 * Describes the chats and people that an agent answers. The default agent answers all chats that no
 * rule assigns to another agent.
 */
function describeAgentRules(
  { name, settings: { agent } }: ChosenAgent,
  { routes }: LoadedSettings['settings'],
): readonly string[] {
  const rules = routes.filter((route) => route.agent === agent.id).map(describeRoute);
  const hasRest = routes.some((route) => describeRoute(route) === REST);
  return name === undefined && !hasRest ? [...rules, REST] : rules;
}

const REST = 'everything else';

export function getModelName({
  model: { model },
}: Pick<LoadedSettings['settings'], 'model'>): string {
  return typeof model === 'string' ? model : `${model.provider}/${model.model}`;
}
