import { getConversationAgent, type InboundMessage } from '@parley/core';
import type { PairingRequest } from '@parley/store';
import type { AgentRoute, DecisionRules } from './rules.ts';
import { toPersonId } from './sender.ts';

/** The answering agent, and the reason as shown by `why`. */
export interface RoutedAgent {
  readonly agent: string | undefined;
  readonly rule: string;
}

type RoutedMessage = Pick<InboundMessage, 'channel' | 'account' | 'chat' | 'sender'>;

/** Conditions, from the most to the least specific (F14). */
const SPECIFIC = ['person', 'chat', 'account', 'channel'] as const;

/**
 * Decides which agent answers a person in a chat: the most specific rule wins, or the first one if
 * several are equally specific (F14).
 */
export function routeAgent(place: RoutedMessage, routes: readonly AgentRoute[]): RoutedAgent {
  const { channel, account, chat } = place;
  const facts = {
    person: [toPersonId(place)],
    chat: [chat.id, chat.movedTo, chat.within]
      .filter((id) => id !== undefined)
      .map((id) => `${channel}:${id}`),
    account: [`${channel}/${account}`],
    channel: [channel],
  };
  let best: AgentRoute | undefined;
  for (const route of routes) {
    const fits = SPECIFIC.every((key) => {
      const wanted = route[key];
      return wanted === undefined || facts[key].includes(wanted);
    });
    if (
      fits &&
      (best === undefined || computeRouteSpecificity(route) > computeRouteSpecificity(best))
    )
      best = route;
  }
  return best === undefined ? BY_DEFAULT : { agent: best.agent, rule: describeRule(best) };
}

const BY_DEFAULT: RoutedAgent = { agent: undefined, rule: 'the default agent' };

/** A condition outweighs all less specific conditions combined. */
function computeRouteSpecificity(route: AgentRoute): number {
  return SPECIFIC.reduce((sum, key) => 2 * sum + (route[key] === undefined ? 0 : 1), 0);
}

function describeRule(route: AgentRoute): string {
  // Members of a group may read the reason, and some platforms hide the ids of people and chats
  // from them.
  const named = SPECIFIC.flatMap((key) => {
    if (route[key] === undefined) return [];
    return key === 'person' || key === 'chat' ? `this ${key}` : `${key} ${route[key]}`;
  });
  return `the rule for ${named.length === 0 ? 'everything else' : named.join(' and ')}`;
}

/**
 * The agent that a message belongs to, and the rules with its owners. `unknown`: the chat names an
 * agent that does not exist.
 */
export interface ResolvedAgent {
  readonly agent: string | undefined;
  readonly rules: DecisionRules;
  /** The reason shown by `why`; null when there is only one agent. */
  readonly why: string | null;
  readonly unknown: boolean;
}

/** Parley's built-in front ends, where the token or its holder selects the agent. */
const LOCAL_CHANNELS: ReadonlySet<string> = new Set(['web', 'terminal', 'api']);

/**
 * Chooses the agent for a message, before any decision about the sender. A web chat names its agent
 * in its id.
 */
export function resolveAgent(place: RoutedMessage, rules: DecisionRules): ResolvedAgent {
  const { agents } = rules;
  const chosen = LOCAL_CHANNELS.has(place.channel)
    ? getConversationAgent(place.chat.id)
    : undefined;
  if (agents === undefined) {
    return { agent: undefined, rules, why: null, unknown: chosen !== undefined };
  }
  const routed: RoutedAgent =
    chosen === undefined
      ? routeAgent(place, agents.routes)
      : { agent: chosen === agents.id ? undefined : chosen, rule: 'the chat names this agent' };
  const { agent, rule } = routed;
  const own = getAgentRules(rules, agent);
  const why = `answered by ${agent ?? agents.id} (${rule})`;
  return { agent, rules: own ?? rules, why, unknown: own === undefined };
}

/**
 * The rules of an account with the owners and approvers of an agent; undefined when that agent does
 * not exist.
 */
export function getAgentRules(
  rules: DecisionRules,
  agent: string | undefined,
): DecisionRules | undefined {
  if (rules.agents === undefined) return agent === undefined ? rules : undefined;
  const own = rules.agents.rights.get(agent);
  return own && { ...rules, ...own };
}

/** The owner lists of all agents, when there are several. */
export function listAgentOwners({ agents }: DecisionRules): readonly (readonly string[])[] {
  return [...(agents?.rights.values() ?? [])].map(({ owners }) => owners);
}

/**
 * Whether an owner may decide about a stranger: only owners of the agent that the stranger wrote to
 * can decide (F05).
 */
export function canAllowStranger(
  rules: DecisionRules,
  asker: RoutedMessage,
  {
    channel,
    account,
    senderId,
    route,
  }: Pick<PairingRequest, 'channel' | 'account' | 'senderId' | 'route'>,
): boolean {
  const sender = { id: senderId, name: '', isBot: false };
  const chat = { id: route.chatId, type: 'direct' } as const;
  const theirs = resolveAgent({ channel, account, chat, sender }, rules);
  return (
    theirs.agent === resolveAgent(asker, rules).agent ||
    theirs.rules.owners.includes(toPersonId(asker))
  );
}
