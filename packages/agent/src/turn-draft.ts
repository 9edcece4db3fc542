import { type Runtime, type SentRequest, silentMeter, silentTracer } from '@parley/core';
import type { UserMessage } from '@parley/models';
import type { PromptMode } from '@parley/prompt';
import type { ClaimedTurn } from '@parley/store';
import type { HistoryLimits } from './context/history.ts';
import type { readHistory } from './context/summary.ts';
import { checkedRequest, type RequestDraft } from './loop/model-request.ts';
import { type TurnMedia, unseenMedia } from './media/turn-media.ts';
import { sentRequestOf } from './record-prompt.ts';
import { type ToolSet, toolsInMode } from './tools/tool-registry.ts';
import { runBefore } from './turn-hooks.ts';
import { type OpenedTurn, openTurn, textOf } from './turn-opening.ts';
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

export interface PreviewChange {
  /** Of the turn of a chat; a heartbeat run has its own. */
  readonly mode?: PromptMode | undefined;
  /** The turn is a heartbeat run (H10) whose alerts go to this conversation. */
  readonly heartbeat?: { readonly target: string } | undefined;
}

/** Everything of a turn but what it writes to. */
export type PreviewServices = Omit<DraftServices, 'pins' | 'history' | 'meter' | 'tracer'>;

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
