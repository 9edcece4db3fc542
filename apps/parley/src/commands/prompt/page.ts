import { type PreviewServices, previewTurn } from '@parley/agent';
import type { PreviewPrompt } from '@parley/gateway';
import type { OpenAgent } from '../../open-agent.ts';
import { createPreviewedTurn, type PreviewTarget, parsePreviewRequest } from './request.ts';

/** Creates request previews for the page, using the running agent. */
export function createPagePreview(
  agent: OpenAgent,
  place: Pick<PreviewTarget, 'channels' | 'heartbeat'>,
  deps: Pick<
    PreviewServices,
    | 'owners'
    | 'approvals'
    | 'model'
    | 'clock'
    | 'monotonic'
    | 'log'
    | 'contextTokens'
    | 'subAgentLimits'
  >,
): PreviewPrompt {
  return async ({ heartbeat, ...asked }) => {
    const request = parsePreviewRequest({ ...asked, heartbeat: heartbeat === '1' });
    const now = deps.clock();
    const { id, name } = agent.place;
    const { turn, change } = await createPreviewedTurn(request, { ...place, agent: id, name, now });
    return previewTurn(turn, change, { ...agent, agent: agent.place, ...deps });
  };
}
