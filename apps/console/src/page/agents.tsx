import type { OutputOf } from '@parley/gateway/operations';
import { createContext, type VNode } from 'preact';
import { useContext } from 'preact/hooks';
import { agentOf, hashOfRoute, type Route } from './route.ts';
import { useOperation } from './ui/data.tsx';
import { Trouble } from './ui/widgets.tsx';

export type ShownAgent = OutputOf<'agents/list'>['agents'][number];

/** Where there are several agents: `own` shows the view of one of them, `rows` can show the rows of one alone. */
export type AgentScope = 'own' | 'rows';

/** The agents where there are several, and what is shown of which. */
export interface Agents {
  /** Empty where there is one. */
  readonly all: readonly ShownAgent[];
  /** The one that the address names. */
  readonly chosen: ShownAgent | undefined;
  /** Stands behind the title of the view; null: nothing does. */
  readonly inTitles: string | null;
  /** The state of the agent in the address; `asked`: the gateway has not answered yet. */
  readonly state: 'here' | 'gone' | 'asked';
}

const ONE: Agents = { all: [], chosen: undefined, inTitles: null, state: 'here' };

/** Known to every view. */
export const AgentsHere = createContext(ONE);

/** Settings change while the page is open: it is asked for this often, in ms. */
const POLL_INTERVAL_MS = 60_000;

/** The agents for a view of `route`; without `mayAsk` as where there is one. */
export function useAgentsAt(route: Route, kind: AgentScope | undefined, mayAsk: boolean): Agents {
  const { value, failure } = useOperation('agents/list', mayAsk ? {} : null, POLL_INTERVAL_MS);
  if (value !== undefined) return agentsAt(value.agents, route, kind);
  return mayAsk && failure === null && route.agent !== undefined ? { ...ONE, state: 'asked' } : ONE;
}

/** The agents that the view of an address shows. */
export function agentsAt(
  found: readonly ShownAgent[],
  { agent }: Route,
  kind: AgentScope | undefined,
): Agents {
  const all = found.length > 1 ? found : [];
  const chosen = all.find(({ name }) => name === agent);
  const whose = chosen ?? (kind === 'own' ? all.find(({ isDefault }) => isDefault) : undefined);
  const isHere = agent === undefined || found.some(({ name }) => name === agent);
  const inTitles = (kind && whose?.title) ?? null;
  return { all, chosen, inTitles, state: isHere ? 'here' : 'gone' };
}

/** The agent that answers in a conversation or chat; undefined: there is one agent, or this one is gone. */
export function answererOf(all: readonly ShownAgent[], id: string): ShownAgent | undefined {
  const of = agentOf(id);
  return all.find(({ name, isDefault }) => (of === undefined ? isDefault : name === of));
}

/** The id of a chat of the page with an agent. */
export function chatIdWith({ name, isDefault }: ShownAgent, chat: string): string {
  return isDefault ? chat : `@${name}/${chat}`;
}

/** For rows of a list, by the id of their conversation; null: none has taken it. */
export function useRowAgents() {
  const { all, chosen } = useContext(AgentsHere);
  return {
    /** The title of a row's agent; null where there is one agent. */
    titleOf: (id: string | null): string | null =>
      all.length === 0 || id === null ? null : (answererOf(all, id)?.title ?? agentOf(id) ?? null),
    /** Whether it is to be shown: the address may name one agent. */
    isShown: (id: string | null): boolean =>
      chosen === undefined || (id !== null && answererOf(all, id) === chosen),
    /** The title of what is always that of one agent, also where rows of all are shown. */
    ofOne: (title: string): string =>
      all.length === 0 ? title : `${title} · ${(chosen ?? answererOf(all, ''))?.title}`,
    chosen,
  };
}

interface ChoiceProps {
  readonly agents: Agents;
  readonly route: Route;
  readonly kind: AgentScope | undefined;
}

/** Chooses whose things a view shows, of lists also those of all; nothing where there is one agent. */
export function AgentChoice({ agents: { all, chosen }, route, kind }: ChoiceProps): VNode | null {
  if (all.length === 0 || kind === undefined) return null;
  const isOwn = kind === 'own';
  const optionOf = ({ name, isDefault }: ShownAgent) => (isOwn && isDefault ? '' : name);
  return (
    <label class="agent-choice">
      <span class="visually-hidden">Agent</span>
      <select
        class="field"
        value={chosen === undefined ? '' : optionOf(chosen)}
        onChange={({ currentTarget: { value: agent } }) => {
          location.hash = hashOfRoute({ ...route, agent });
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

/** In place of a view whose address names an agent that does not exist. */
export function NoSuchAgent({ route }: { readonly route: Route }): VNode {
  return (
    <main class="column-view">
      <div>
        <h2>Agents</h2>
        <Trouble reason={`There is no agent "${route.agent}".`} />
        <p>
          <a href={hashOfRoute({ ...route, agent: undefined })}>Continue without it</a>
        </p>
      </div>
    </main>
  );
}
