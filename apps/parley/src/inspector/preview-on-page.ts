import { type PreviewDeps, previewTurn } from '@parley/agent';
import type { Clock, Logger } from '@parley/contracts';
import type { PromptInspector } from '@parley/gateway';
import { sentPromptOf } from '@parley/prompt';
import { previewRequest } from '../commands/prompt-request.ts';
import type { OpenAgent } from '../open-agent.ts';
import { hypotheticalTurn } from './hypothetical-turn.ts';

/** What the page's turns that might be are made with. */
export interface PagePreviewDeps {
  readonly agent: OpenAgent;
  readonly owners: readonly string[];
  readonly approvals: NonNullable<PreviewDeps['approvals']>;
  /** The names of the channels there are. */
  readonly channels: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
}

/** Answers the page with the prompt of a turn that might be, by the agent that runs. Throws CliError. */
export function previewOnPage(deps: PagePreviewDeps): PromptInspector['preview'] {
  const { agent, owners, approvals, channels, clock, log } = deps;
  return async ({ heartbeat, ...asked }) => {
    const flags = { ...asked, heartbeat: heartbeat === '1' ? (true as const) : undefined };
    const { message, mode, heartbeat: isHeartbeat } = previewRequest(flags);
    const turn = hypotheticalTurn(message, channels, clock());
    const change = { mode, heartbeat: isHeartbeat };
    const made = { ...agent, agent: agent.place, owners, approvals, clock, log };
    return sentPromptOf(await previewTurn(turn, change, made));
  };
}
