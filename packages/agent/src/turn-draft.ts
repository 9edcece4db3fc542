import type { Runtime } from '@parley/core';
import type { UserMessage } from '@parley/models';
import type { ClaimedTurn } from '@parley/store';
import type { HistoryLimits } from './context/history-budget.ts';
import type { readHistory } from './context/summary.ts';
import type { RequestDraft } from './loop/checked-request.ts';
import type { TurnMedia } from './media/turn-media.ts';
import { type ToolSet, toolsInMode } from './tools/tool-registry.ts';
import { runBefore } from './turn-hooks.ts';
import type { OpenedTurn } from './turn-opening.ts';
import { type PromptServices, toolsOf, turnPrompt } from './turn-prompt.ts';

/** What the requests of a turn are built from. */
export interface DraftServices extends PromptServices, Pick<Runtime, 'meter' | 'tracer'> {
  readonly history: HistoryLimits;
  readonly contextTokens?: (() => number) | undefined;
}

interface ReadTurn {
  readonly turn: ClaimedTurn;
  readonly media: TurnMedia;
  readonly opened: OpenedTurn;
}

export interface TurnDraft {
  readonly tools: ToolSet;
  readonly draft: Omit<RequestDraft, 'rounds' | 'tools' | 'closing'>;
}

/**
 * Prompt, tools, history and newest message of a turn. Previews are built here too, so that they are
 * what a turn sends (P17). `past` reads the history.
 */
export async function turnDraft(
  deps: DraftServices,
  { turn, media, opened }: ReadTurn,
  past: () => ReturnType<typeof readHistory>,
  signal: AbortSignal,
): Promise<TurnDraft> {
  const additions = await runBefore(deps, opened, signal);
  // Once: servers come and go, and the prompt must list exactly the tools that are offered.
  const tools = toolsInMode(toolsOf(deps, opened.reader), turn.mode);
  const { tracer, meter, clock, history } = deps;
  const promptAt = clock();
  const [prompt, read] = await tracer.span('parley.prompt', {}, () =>
    Promise.all([turnPrompt(turn, deps, { opened, additions, tools }), past()]),
  );
  meter.observe('parley_prompt_seconds', clock() - promptAt);
  const now = userMessage(opened, media, turn);
  const contextTokens = deps.contextTokens?.();
  return { tools, draft: { prompt, ...read, history, contextTokens, now } };
}

function userMessage({ text }: OpenedTurn, media: TurnMedia, turn: ClaimedTurn): UserMessage {
  return {
    role: 'user',
    content: text,
    said: turn.messages.map(({ message }) => message.text).join('\n'),
    ...(media.images.length > 0 && { images: media.images }),
    ...(media.attached.length > 0 && { attached: media.attached }),
  };
}
