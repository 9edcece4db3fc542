import type { OutputOf } from '@parley/gateway/operations';
import { createContext, type VNode } from 'preact';
import { useContext } from 'preact/hooks';
import { findAgentName, type Route, toHash } from './route.ts';
import { useOperation } from './ui/data.tsx';
import { ProblemNote } from './ui/widgets.tsx';

export type AgentSummary = OutputOf<'agents/list'>['agents'][number];

/**
 * How a view handles several agents: `own` always shows one agent, and `rows` lists rows from all
 * agents and can show the rows of one agent only.
 */
export type AgentScope = 'own' | 'rows';

/** All agents, and the agent that the current view shows. */
export interface AgentSelection {
  /** Empty if the gateway has only one agent. */
  readonly all: readonly AgentSummary[];
  /** The agent named by the address. */
  readonly chosen: AgentSummary | undefined;
  /** The agent's title, appended to the title of the view; null to append nothing. */
  readonly inTitles: string | null;
  /** The state of the agent in the address; `asked` until the gateway has responded. */
  readonly state: 'here' | 'gone' | 'asked';
}

const ONE: AgentSelection = { all: [], chosen: undefined, inTitles: null, state: 'here' };

/** The context from which every view gets the agents. */
export const AgentsHere = createContext(ONE);

/**
 * How often the list of agents is requested, in ms. The settings can change while the page is open.
 */
const POLL_INTERVAL_MS = 60_000;

/**
 * Returns the agents for the view at `route`. If `mayAsk` is false, the result is the same as with
 * a single agent.
 */
export function useAgentSelection(
  route: Route,
  kind: AgentScope | undefined,
  mayAsk: boolean,
): AgentSelection {
  const { value, failure } = useOperation('agents/list', mayAsk ? {} : null, POLL_INTERVAL_MS);
  if (value !== undefined) return resolveAgentSelection(value.agents, route, kind);
  return mayAsk && failure === null && route.agent !== undefined ? { ...ONE, state: 'asked' } : ONE;
}

export function resolveAgentSelection(
  found: readonly AgentSummary[],
  { agent }: Route,
  kind: AgentScope | undefined,
): AgentSelection {
  const all = found.length > 1 ? found : [];
  const chosen = all.find(({ name }) => name === agent);
  const whose = chosen ?? (kind === 'own' ? all.find(({ isDefault }) => isDefault) : undefined);
  const isHere = agent === undefined || found.some(({ name }) => name === agent);
  const inTitles = (kind && whose?.title) ?? null;
  return { all, chosen, inTitles, state: isHere ? 'here' : 'gone' };
}

/**
 * The agent that answers in a conversation or chat; undefined if there is only one agent or if the
 * agent no longer exists.
 */
export function findAnsweringAgent(
  all: readonly AgentSummary[],
  id: string,
): AgentSummary | undefined {
  const of = findAgentName(id);
  return all.find(({ name, isDefault }) => (of === undefined ? isDefault : name === of));
}

/** The id of a chat with an agent on this page. */
export function toAgentChatId({ name, isDefault }: AgentSummary, chat: string): string {
  return isDefault ? chat : `@${name}/${chat}`;
}

/**
 * Functions that look up the agent for a list row by its conversation id, which is null if no agent
 * is responsible.
 */
export function useRowAgents() {
  const { all, chosen } = useContext(AgentsHere);
  return {
    /** The title of a row's agent; null if there is only one agent. */
    titleOf: (id: string | null): string | null =>
      all.length === 0 || id === null
        ? null
        : (findAnsweringAgent(all, id)?.title ?? findAgentName(id) ?? null),
    /** Whether to show the row, because the address may select one agent. */
    isShown: (id: string | null): boolean =>
      chosen === undefined || (id !== null && findAnsweringAgent(all, id) === chosen),
    /**
     * Adds the agent's title to the title of an item that always belongs to one agent, even in a
     * list for all agents.
     */
    ofOne: (title: string): string =>
      all.length === 0 ? title : `${title} · ${(chosen ?? findAnsweringAgent(all, ''))?.title}`,
    chosen,
  };
}

interface ChoiceProps {
  readonly agents: AgentSelection;
  readonly route: Route;
  readonly kind: AgentScope | undefined;
}

/**
 * Selects the agent whose data a view shows; lists also offer all agents. Renders nothing if there
 * is only one agent.
 */
export function AgentChoice({ agents: { all, chosen }, route, kind }: ChoiceProps): VNode | null {
  if (all.length === 0 || kind === undefined) return null;
  const isOwn = kind === 'own';
  const optionOf = ({ name, isDefault }: AgentSummary) => (isOwn && isDefault ? '' : name);
  return (
    <label class="agent-choice">
      <span class="visually-hidden">Agent</span>
      <select
        class="field"
        value={chosen === undefined ? '' : optionOf(chosen)}
        onChange={({ currentTarget: { value: agent } }) => {
          location.hash = toHash({ ...route, agent });
        }}
      >
        {!isOwn && <option value="">All agents</option>}
        {all.map((one) => (
          <option key={one.name} value={optionOf(one)}>
            {one.title}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Shown instead of a view when its address names an agent that does not exist. */
export function UnknownAgent({ route }: { readonly route: Route }): VNode {
  return (
    <main class="column-view">
      <div>
        <h2>Agents</h2>
        <ProblemNote reason={`There is no agent "${route.agent}".`} />
        <p>
          <a href={toHash({ ...route, agent: undefined })}>Continue without this agent</a>
        </p>
      </div>
    </main>
  );
}
