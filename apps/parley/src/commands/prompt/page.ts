import { type PreviewServices, previewTurn } from '@parley/agent';
import type { PromptInspector } from '@parley/gateway';
import { comparePrompts } from '@parley/prompt';
import type { PromptRepository, PromptSearch, PromptSummary } from '@parley/store';
import type { OpenAgent } from '../../open-agent.ts';
import { type PreviewPlace, previewedTurn, previewRequest } from './request.ts';

/** The prompts of past turns (P17): `shown` on the page, and recorded unless they are kept for no day. */
export function openInspector(
  prompts: PromptRepository,
  { keepDays }: { readonly keepDays: number },
  preview: PromptInspector['preview'],
) {
  const shown: PromptInspector = {
    preview,
    async list({ chat, before, limit }) {
      // One more than asked for: then there is a further page.
      const found = await prompts.list({ chat, before: placeOf(before), limit: limit + 1 });
      const shown = found.slice(0, limit);
      const last = shown.at(-1);
      const next = found.length > limit && last !== undefined ? markOf(last) : null;
      return { prompts: shown, next };
    },
    prompt: (turnId) => prompts.ofTurn(turnId),
    async compare(before, after) {
      const [first, second] = await Promise.all([prompts.ofTurn(before), prompts.ofTurn(after)]);
      return first === null || second === null ? null : comparePrompts(first, second);
    },
  };
  return { shown, recording: keepDays === 0 ? {} : { prompts } };
}

/** Where a page ended, as the next request names it. */
function markOf({ at, turnId }: PromptSummary): string {
  return `${at}~${turnId}`;
}

/** A mark that is none begins at the newest. */
function placeOf(mark: string | undefined): PromptSearch['before'] {
  const parts = /^(\d+)~(.+)$/.exec(mark ?? '');
  return parts === null ? undefined : { at: Number(parts[1]), turnId: parts[2] ?? '' };
}

/** Answers the page with the request of a preview, by the agent that runs. Throws CliError. */
export function previewOnPage(
  agent: OpenAgent,
  place: Pick<PreviewPlace, 'channels' | 'heartbeat'>,
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
): PromptInspector['preview'] {
  return async ({ heartbeat, ...asked }) => {
    const request = previewRequest({ ...asked, heartbeat: heartbeat === '1' });
    const now = deps.clock();
    const { id, name } = agent.place;
    const { turn, change } = await previewedTurn(request, { ...place, agent: id, name, now });
    return previewTurn(turn, change, { ...agent, agent: agent.place, ...deps });
  };
}
