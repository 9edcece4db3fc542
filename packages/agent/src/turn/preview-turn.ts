import { type SentRequest, silentMeter, silentTracer } from '@parley/core';
import type { PromptMode } from '@parley/prompt';
import type { ClaimedTurn } from '@parley/store';
import { buildCheckedRequest } from '../loop/model-request.ts';
import { previewSubAgent } from '../sub-agents/sub-agent-runner.ts';
import { buildPrompt, openTurn } from './build-prompt.ts';
import { createPreviewMeans, type PromptMeans, type PromptServices } from './means.ts';
import { toSentRequest } from './record-prompt.ts';
import { CHAT, startTurn, type Turn } from './turn.ts';

export interface PreviewChange {
  /**
   * The prompt mode of a chat's turn; a heartbeat run has a separate mode. `minimal` previews a
   * sub-agent whose task is the text of the message.
   */
  readonly mode?: PromptMode | undefined;
  /** Previews a heartbeat run (H10) whose alerts go to this conversation. */
  readonly heartbeat?: { readonly target: string } | undefined;
}

/** The services of a turn, except those it writes to. */
export type PreviewServices = Omit<PromptServices, 'pins' | 'meter' | 'tracer'>;

/**
 * Builds the first request that a turn would send (P17) with the code of real turns: hooks,
 * sources, layers, tools and the audience check. A preview does not belong to a session, so it has
 * no history and does not change anything.
 */
export async function previewTurn(
  claimed: ClaimedTurn,
  { heartbeat, mode }: PreviewChange,
  services: PreviewServices,
): Promise<SentRequest> {
  if (heartbeat !== undefined) {
    const { createHeartbeatPrompt, startHeartbeat } = await import(
      '../heartbeat/heartbeat-turn.ts'
    );
    const { turn, note } = startHeartbeat(claimed, heartbeat, services);
    return buildRequest(services, turn, createHeartbeatPrompt(createPreviewMeans(services), note));
  }
  if (mode === 'minimal') {
    const { turn, prompt } = previewSubAgent(claimed, services, services.subAgentLimits);
    return buildRequest(services, turn, prompt(createPreviewMeans(services)));
  }
  const turn = startTurn(claimed, CHAT, services, services.clock());
  return buildRequest(services, turn, createPreviewMeans(services, mode));
}

async function buildRequest(
  services: PreviewServices,
  turn: Turn,
  means: PromptMeans,
): Promise<SentRequest> {
  const building = { ...services, meter: silentMeter, tracer: silentTracer };
  const { signal } = new AbortController();
  const opened = await openTurn(turn, services);
  const built = await buildPrompt(turn, opened, means, building, NO_PAST, signal);
  const { reader } = turn;
  const draft = { ...built.draft, tools: built.tools.offer(built.openGroups), rounds: [] };
  return toSentRequest({ ...buildCheckedRequest(draft, reader, services.log), reader });
}

const NO_PAST = async () => ({ summary: null, transcript: [] });
