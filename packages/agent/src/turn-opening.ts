import { basename } from 'node:path';
import type { Clock, Reader } from '@parley/contracts';
import { type Identity, readIdentity } from '@parley/prompt';
import type { ClaimedTurn } from '@parley/store';
import { readerOf, type Workspace } from '@parley/workspace';
import type { TurnOpening } from './hooks/turn-hook.ts';
import type { TurnOrigin } from './loop/call-moment.ts';
import { type AgentPlace, turnFacts } from './turn-facts.ts';

/** What opening a turn needs. */
export interface OpenTurnDeps {
  readonly workspace: Workspace;
  readonly agent: AgentPlace;
  readonly owners: readonly string[];
  readonly clock: Clock;
}

/** For whom a turn runs; decides what its prompt may hold and how a failure is told (W02). */
export function turnReader(
  turn: ClaimedTurn,
  deps: Pick<OpenTurnDeps, 'agent' | 'owners' | 'clock'>,
): Reader {
  const facts = { ...turnFacts(turn, deps.agent, deps.clock()), ...placeOf(turn) };
  return readerOf(facts, ownersOf(turn, facts.user.id, deps.owners), turn.conversationId);
}

/** A job may carry an owner's question into a group: there nobody is alone with them (W02). */
function placeOf({ messages }: ClaimedTurn): { readonly deliversElsewhere: boolean } {
  const deliversElsewhere = messages.some(
    ({ message, route }) =>
      route.channel !== message.channel ||
      route.account !== message.account ||
      route.chatId !== message.chat.id,
  );
  return { deliversElsewhere };
}

/** An account that an owner linked with their own is an owner's, too: ingress has said so (F13). */
function ownersOf(turn: ClaimedTurn, person: string, named: readonly string[]): readonly string[] {
  const isOwners = turn.messages.every(({ fromOwner }) => fromOwner === true);
  return isOwners ? [...named, person] : named;
}

/** What prompt, hooks and tools of a turn begin with. */
export interface OpenedTurn extends TurnOpening {
  readonly identity: Identity;
  /** What stands behind a turn that no person began. */
  readonly origin?: TurnOrigin;
}

/** Finds out for whom a turn runs (unless it is told), where, and what the agent is called there. */
export async function openTurn(
  turn: ClaimedTurn,
  text: string,
  deps: OpenTurnDeps,
  reader = turnReader(turn, deps),
): Promise<OpenedTurn> {
  const view = deps.workspace.for(reader);
  const identity = await readIdentity(view, { agent: deps.agent.identity });
  const agent = { id: deps.agent.id, name: identity.name };
  const { workspace, ...known } = turnFacts(turn, deps.agent, deps.clock());
  // Where the operator keeps things, and under which name, is no guest's business.
  const folder = reader.kind === 'owner' ? workspace : basename(workspace);
  const facts = { ...known, workspace: folder, agent };
  const messages = turn.messages.map(({ message }) => message);
  return { facts, reader, view, identity, text, messages };
}
