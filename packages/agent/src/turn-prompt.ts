import { homedir } from 'node:os';
import type { Clock, Logger, Reader } from '@parley/contracts';
import {
  type AssembledPrompt,
  type ContextSource,
  type FixForSession,
  type PromptAssembler,
  readIdentity,
} from '@parley/prompt';
import type { ClaimedTurn, Store } from '@parley/store';
import { readerOf, type Workspace } from '@parley/workspace';
import { gatherFeatures } from './gather-features.ts';
import { type AgentPlace, leadingMessage, turnFacts } from './turn-facts.ts';

/** What the prompt of a turn is made from. */
export interface TurnPromptDeps {
  readonly prompt: PromptAssembler;
  /** What each feature has to say; later ones win where two fill in the same field. */
  readonly sources: readonly ContextSource[];
  readonly workspace: Workspace;
  readonly agent: AgentPlace;
  readonly owners: readonly string[];
  readonly store: Pick<Store, 'pins'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** For whom a turn runs; decides what its prompt may hold and how a failure is told (W02). */
export function turnReader(
  turn: ClaimedTurn,
  deps: Pick<TurnPromptDeps, 'agent' | 'owners' | 'clock'>,
): Reader {
  const facts = turnFacts(turn, deps.agent, deps.clock());
  return readerOf(facts, ownersOf(turn, facts.user.id, deps.owners), turn.conversationId);
}

/** An account that an owner linked with their own is an owner's, too: ingress has said so (F13). */
function ownersOf(turn: ClaimedTurn, person: string, named: readonly string[]): readonly string[] {
  const isOwners = turn.messages.every(({ fromOwner }) => fromOwner === true);
  return isOwners ? [...named, person] : named;
}

/** The prompt of a turn, built anew each time (P01). */
export async function turnPrompt(
  turn: ClaimedTurn,
  deps: TurnPromptDeps,
): Promise<AssembledPrompt> {
  const facts = turnFacts(turn, deps.agent, deps.clock());
  const reader = turnReader(turn, deps);
  const view = deps.workspace.for(reader);
  const identity = await readIdentity(view, { agent: deps.agent.identity });
  const told = { ...facts, agent: { id: deps.agent.id, name: identity.name } };
  const messages = turn.messages.map(({ message }) => message);
  const { conversationId, session } = turn;
  // What an owner saw must not come back when the same chat is somebody else's.
  const fix: FixForSession = async (key, value, schema) =>
    schema.parse(await deps.store.pins.fix(turn, `${reader.kind}:${key}`, value, deps.clock()));
  const atHand = { facts: told, reader, view, messages, fix, conversationId, session };
  const features = await gatherFeatures(deps.sources, atHand, deps.log);
  return deps.prompt.assemble({
    tools: [],
    ...features,
    facts: told,
    reader,
    view,
    identity,
    messages,
    fix,
    overheard: turn.overheard,
    target: leadingMessage(turn).route.target,
    home: homedir(),
  });
}
