import { type PreviewDeps, previewTurn } from '@parley/agent';
import type { Clock, Logger } from '@parley/contracts';
import type { PromptInspector } from '@parley/gateway';
import { comparePrompts, sentPromptOf } from '@parley/prompt';
import type { PromptRepository, PromptSearch, PromptSummary } from '@parley/store';
import type { OpenAgent } from '../open-agent.ts';
import { hypotheticalTurn, previewRequest } from './request.ts';

/** The prompts of past turns: recorded for the turns, shown on the page. How long they are kept: `compose-worker.ts`. */
export interface Inspector {
  /** For the page. */
  readonly shown: PromptInspector;
  /** For the turns: nothing where nothing is to be recorded. */
  readonly recording: { readonly prompts?: PromptRepository };
}

/** Records prompts unless they are kept for no day. */
export function openInspector(
  prompts: PromptRepository,
  { keepDays }: { readonly keepDays: number },
  preview: PromptInspector['preview'],
): Inspector {
  return {
    shown: promptInspector(prompts, preview),
    recording: keepDays === 0 ? {} : { prompts },
  };
}

/** Answers what the page asks of recorded prompts (P17). */
function promptInspector(
  prompts: PromptRepository,
  preview: PromptInspector['preview'],
): PromptInspector {
  return {
    preview,
    async list({ chat, before, limit }) {
      // One more than asked for tells whether there is a further page.
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

/** What previews on the page are made with. */
export interface PagePreviewDeps {
  readonly agent: OpenAgent;
  readonly owners: readonly string[];
  readonly approvals: NonNullable<PreviewDeps['approvals']>;
  /** The names of the channels there are. */
  readonly channels: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
}

/** Answers the page with the prompt of a preview, by the agent that runs. Throws CliError. */
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
