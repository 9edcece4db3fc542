import { type SentRequest, silentMeter, silentTracer } from '@parley/core';
import type { PromptMode } from '@parley/prompt';
import type { ClaimedTurn } from '@parley/store';
import { checkedRequest } from './loop/model-request.ts';
import { unseenMedia } from './media/turn-media.ts';
import { sentRequestOf } from './record-prompt.ts';
import { subAgentRequest } from './sub-agents/sub-agent-runner.ts';
import { type DraftServices, turnDraft } from './turn-answer.ts';
import { type OpenedTurn, openTurn, textOf } from './turn-opening.ts';
import type { TurnServices } from './turn-services.ts';

export interface PreviewChange {
  /** Of the turn of a chat; a heartbeat run has its own. `minimal`: a sub-agent whose task is the text of the message. */
  readonly mode?: PromptMode | undefined;
  /** The turn is a heartbeat run (H10) whose alerts go to this conversation. */
  readonly heartbeat?: { readonly target: string } | undefined;
}

/** Everything of a turn but what it writes to. */
export type PreviewServices = Omit<DraftServices, 'pins' | 'history' | 'meter' | 'tracer'> &
  Pick<TurnServices, 'subAgentLimits'>;

/**
 * The first request that a turn would send (P17), built by the functions of real turns: hooks, sources,
 * layers, tools and the last check. It belongs to no session: it has no history and changes nothing.
 */
export async function previewTurn(
  turn: ClaimedTurn,
  change: PreviewChange,
  services: PreviewServices,
): Promise<SentRequest> {
  const deps = {
    ...services,
    meter: silentMeter,
    tracer: silentTracer,
    history: { entries: 0, tokens: 0 },
  };
  const { heartbeat, mode } = change;
  if (heartbeat !== undefined) {
    const { heartbeatRequest } = await import('./heartbeat/heartbeat-turn.ts');
    const setup = await heartbeatRequest(deps, heartbeat, turn);
    return requestOf(setup.services, setup.turn, setup.opened);
  }
  if (mode === 'minimal') {
    const setup = await subAgentRequest(deps, turn);
    return requestOf(setup.services, setup.turn, setup.opened);
  }
  const opened = await openTurn(
    turn,
    textOf(turn.messages, () => []),
    deps,
  );
  return requestOf({ ...deps, ...(mode !== undefined && { promptMode: mode }) }, turn, opened);
}

async function requestOf(
  deps: DraftServices,
  turn: ClaimedTurn,
  opened: OpenedTurn,
): Promise<SentRequest> {
  const signal = new AbortController().signal;
  const read = { turn, opened, media: unseenMedia() };
  const { tools, draft } = await turnDraft(deps, read, NO_PAST, signal);
  const { reader } = opened;
  const built = checkedRequest({ ...draft, tools, rounds: [] }, reader, deps.log);
  return sentRequestOf({ ...built, reader });
}

const NO_PAST = async () => ({ summary: null, transcript: [] });
