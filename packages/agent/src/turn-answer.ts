import { type LiveBus, type Runtime, reasonOf } from '@parley/core';
import type { ModelRequest, UserMessage } from '@parley/models';
import type { AssembledPrompt } from '@parley/prompt';
import type { AgentFile, ClaimedTurn } from '@parley/store';
import type { ApprovalGate } from './approvals/approval-gate.ts';
import type { LaterMessages } from './busy/later-messages.ts';
import { clientHistory } from './client-request.ts';
import type { HistoryFill, HistoryLimits } from './context/history.ts';
import { retryWithLessContext } from './context/less-context.ts';
import { readHistory } from './context/summary.ts';
import type { RequestDraft } from './loop/model-request.ts';
import type { FinalStep, StepUsage, TurnJournal } from './loop/turn-journal.ts';
import { DEFAULT_TURN_LIMITS } from './loop/turn-limits.ts';
import { turnLoop } from './loop/turn-loop.ts';
import { namesDocument } from './media/attachment-text.ts';
import type { TurnMedia } from './media/turn-media.ts';
import { type HeldPrompt, recordPrompt } from './record-prompt.ts';
import { accountOf } from './spend.ts';
import { type ToolSet, toolsInMode } from './tools/tool-registry.ts';
import { runBefore } from './turn-hooks.ts';
import { leadingMessage, type OpenedTurn, quotableIn, responseFormatOf } from './turn-opening.ts';
import { type PromptServices, toolsOf, turnPrompt } from './turn-prompt.ts';
import type { TurnServices } from './turn-services.ts';

export interface SeenTurn {
  readonly turn: ClaimedTurn;
  readonly media: TurnMedia;
  readonly opened: OpenedTurn;
  readonly journal: TurnJournal;
  /** Without it, calls that need an approval are not run. */
  readonly gate?: ApprovalGate | undefined;
  readonly later?: LaterMessages | undefined;
  readonly prompt?: HeldPrompt | undefined;
  /** Hears all that people have seen of the answer so far. */
  readonly shown?: (text: string) => void;
}

/**
 * The answer of a turn: from its journal if an earlier run got it, else from the model and its tools
 * (G16). Null when the lease was lost. Throws ModelError, TurnLimitError, ResponseFormatError,
 * TurnSuspendedError and the reason of the signal.
 */
export async function turnAnswer(
  deps: TurnServices,
  { turn, media, opened, journal, gate, later, shown }: SeenTurn,
  signal: AbortSignal,
): Promise<FinalStep | null> {
  const { conversationId, turnId, session } = turn;
  const { facts, reader, view, messages = [], origin } = opened;
  if (journal.answer !== null) return journal.answer;
  const past = () => readHistory(deps.store, turn, reader, deps.history.entries);
  const { tools, draft } = await turnDraft(
    { ...deps, pins: deps.store.pins },
    { turn, media, opened },
    past,
    signal,
  );
  const format = responseFormatOf(turn, deps.agent);
  const isShown = format === undefined;
  const loop = {
    ...deps,
    ...(!isShown && { format, bus: withoutDrafts(deps.bus) }),
    conversationId,
    turnId,
    journal,
    gate,
    tools,
    limits: { ...DEFAULT_TURN_LIMITS, ...deps.limits },
    at: {
      ...{ facts, reader, view, session, messages, route: leadingMessage(turn).route },
      ...(origin !== undefined && { origin }),
    },
    keepFile: (id: string, file: AgentFile) =>
      deps.store.agentFiles.keep(id, turnId, file, deps.clock()),
    quotable: () => quotableIn(turn, journal.joined()),
    ...(isShown && shown !== undefined && { shown }),
    beforeActing: later?.beforeActing,
    joinLater: isShown ? later?.join : undefined,
    maySpend: (used: StepUsage | null) => maySpend(deps, turn, opened, used),
    cutOff: (used: StepUsage) => countCutOff(deps, turn, opened, used),
    draft,
    record: (prompt: AssembledPrompt, request: ModelRequest) =>
      recordPrompt(deps, turn, { prompt, request, reader }),
    notice: (fill: HistoryFill) =>
      deps.compactor?.notice({ conversationId, session, reader }, fill),
  };
  const whose = { conversationId, session, reader };
  return retryWithLessContext(deps, whose, signal, (shorter, refused) =>
    turnLoop({ ...loop, refused, draft: { ...loop.draft, ...shorter } }, signal),
  );
}

/** JSON is shown when it is known to fit. */
function withoutDrafts(bus: LiveBus): LiveBus {
  return {
    publish: (event) => (event.type === 'turn-delta' ? undefined : bus.publish(event)),
    subscribe: (listener) => bus.subscribe(listener),
  };
}

/** Asks the guard before a call of the model (G17). Throws SpendCapError. */
export async function maySpend(
  deps: TurnServices,
  turn: ClaimedTurn,
  { facts, reader }: Pick<OpenedTurn, 'facts' | 'reader'>,
  used: StepUsage | null,
): Promise<void> {
  const isLinked = turn.messages.every(({ fromOwner }) => fromOwner === true);
  const byOwner = isLinked || deps.owners.includes(facts.user.id);
  const account = accountOf(facts, deps);
  await deps.spendGuard?.({ account, used, byOwner, reader, at: facts });
}

/** After a stop, when nothing can be stored with the turn any more. */
async function countCutOff(
  deps: TurnServices,
  { turnId }: ClaimedTurn,
  { facts }: OpenedTurn,
  usage: StepUsage,
): Promise<void> {
  try {
    await deps.store.turns.countCutOff(turnId, { account: accountOf(facts, deps), usage });
  } catch (error) {
    deps.log.error(
      { reason: reasonOf(error) },
      'what a stopped call has used could not be counted',
    );
  }
}

/** What the requests of a turn are built from. */
export interface DraftServices
  extends PromptServices,
    Pick<Runtime, 'meter' | 'tracer' | 'monotonic'> {
  readonly history: HistoryLimits;
  readonly contextTokens?: (() => number) | undefined;
}

interface ReadTurn {
  readonly turn: ClaimedTurn;
  readonly media: TurnMedia;
  readonly opened: OpenedTurn;
}

interface TurnDraft {
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
  const { tracer, meter, monotonic, history } = deps;
  const startedAt = monotonic();
  const [prompt, read, tools] = await tracer.span('parley.prompt', {}, () => {
    const reading = past();
    // Once: servers come and go, and the prompt must list exactly the tools that are offered.
    const offered = reading.then(({ transcript }) => {
      const hasDocuments = media.hasDocuments || transcript.some(namesDocument);
      return toolsInMode(toolsOf(deps, opened.reader, turn, hasDocuments), turn.mode);
    });
    const prompted = turnPrompt(turn, deps, { opened, additions, tools: offered });
    return Promise.all([prompted, reading, offered]);
  });
  meter.observe('parley_prompt_seconds', monotonic() - startedAt);
  const now = userMessage(opened, media, turn);
  const given = clientHistory(turn);
  const transcript = given.length === 0 ? read.transcript : [...given, ...read.transcript];
  const contextTokens = deps.contextTokens?.();
  return { tools, draft: { prompt, ...read, transcript, history, contextTokens, now } };
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
