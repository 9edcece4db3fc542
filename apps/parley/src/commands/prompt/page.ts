import { type PreviewServices, previewTurn } from '@parley/agent';
import type { PreviewPrompt } from '@parley/gateway';
import type { OpenAgent } from '../../open-agent.ts';
import { type PreviewTarget, previewedTurn, previewRequest } from './request.ts';

/** Returns a preview of the request by the running agent, for the page. Throws CliError. */
export function previewOnPage(
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
    const request = previewRequest({ ...asked, heartbeat: heartbeat === '1' });
    const now = deps.clock();
    const { id, name } = agent.place;
    const { turn, change } = await previewedTurn(request, { ...place, agent: id, name, now });
    return previewTurn(turn, change, { ...agent, agent: agent.place, ...deps });
  };
}
