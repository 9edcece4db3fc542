import { homedir } from 'node:os';
import type { Clock, Reader } from '@parley/contracts';
import { type AssembledPrompt, type PromptAssembler, readIdentity } from '@parley/prompt';
import type { ClaimedTurn } from '@parley/store';
import { readerOf, type Workspace } from '@parley/workspace';
import { type AgentPlace, leadingMessage, turnFacts } from './turn-facts.ts';

/** What the prompt of a turn is made from. */
export interface TurnPromptDeps {
  readonly prompt: PromptAssembler;
  readonly workspace: Workspace;
  readonly agent: AgentPlace;
  readonly owners: readonly string[];
  readonly clock: Clock;
}

/** Without this a model promises to look things up, to remember, to remind. */
const CAPABILITIES =
  'You have no tools in this chat: you can read messages, and what people attach to them as far as it is shown to you, and answer.';

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
  return deps.prompt.assemble({
    facts: { ...facts, agent: { id: deps.agent.id, name: identity.name } },
    reader,
    view,
    identity,
    messages: turn.messages.map(({ message }) => message),
    overheard: turn.overheard,
    target: leadingMessage(turn).route.target,
    capabilities: CAPABILITIES,
    home: homedir(),
  });
}
