import type { Logger } from '@parley/core';
import type {
  ClaimedTurn,
  RecordedPast,
  RecordedStep,
  RecordedTurn,
  Store,
  StoredPrompt,
} from '@parley/store';
import { isLane, SUB_AGENT_LANE } from '@parley/store';
import { z } from 'zod';
import { removeCompactCommand } from '../context/compactor.ts';
import type { HistoryLimits } from '../context/history.ts';
import { toSummaryKey } from '../context/summary.ts';
import { createHeartbeatPrompt, startHeartbeat } from '../heartbeat/heartbeat-turn.ts';
import { type OpenedTool, openJournal, type TurnRound } from '../loop/turn-journal.ts';
import type { MediaDeps } from '../media/read-attachment.ts';
import { createEmptyTurnMedia, readTurnMedia, type TurnMedia } from '../media/turn-media.ts';
import { DEFAULT_SUB_AGENT_LIMITS, type SubAgentLimits } from '../sub-agents/delegate-task.ts';
import { createSubAgentPrompt, createSubAgentPurpose } from '../sub-agents/sub-agent-runner.ts';
import type { PromptMeans } from '../turn/means.ts';
import { type AgentContext, CHAT, startTurn, type Turn } from '../turn/turn.ts';
import type { MissingFact, ReplayedAnswer, ReplayOutcome } from './outcome.ts';

/** The tables that a replay reads. Without outbox, inbox and writers, it cannot send or change. */
export interface ReplayStore {
  readonly prompts: Pick<Store['prompts'], 'ofTurn'>;
  readonly recordedTurns: Store['recordedTurns'];
  readonly attachments: Pick<Store['attachments'], 'ofMessages' | 'bytes'>;
  readonly subAgents: Pick<Store['subAgents'], 'of'>;
}

/** The services with which a record is read: those of its agent, without anything that writes. */
export interface RecordServices extends Pick<AgentContext, 'agent' | 'owners'> {
  readonly store: ReplayStore;
  readonly media: MediaDeps;
  readonly history: HistoryLimits;
  /** The context window of a model by its id, in tokens; unlimited when absent. */
  readonly contextTokens?: ((model: string) => number) | undefined;
  readonly subAgentLimits?: SubAgentLimits;
  readonly log: Logger;
}

/** A turn as it was: its messages, its prompt, its journal, and the history before it. */
export interface TurnRecord {
  readonly about: Pick<ReplayOutcome, 'turnId' | 'conversationId' | 'at' | 'question' | 'resumed'>;
  readonly prompt: StoredPrompt;
  readonly turn: Turn;
  /** Turns what a chat may use into what this turn may use. */
  readonly lane: (chat: PromptMeans) => PromptMeans;
  readonly media: TurnMedia;
  readonly past: RecordedPast;
  /** True if bytes of a file are gone, which explains a request that cannot be built again. */
  readonly lacksFiles: boolean;
  readonly rounds: readonly TurnRound[];
  /** The tools of the groups that were opened during the turn. */
  readonly opened: readonly OpenedTool[];
  readonly messages: ClaimedTurn['messages'];
  readonly before: ReplayedAnswer;
}

export type IncompleteOutcome = Extract<ReplayOutcome, { kind: 'incomplete' }>;

const HINTS: Readonly<Record<MissingFact, string>> = {
  record:
    'No prompt of this turn is kept. Prompts are deleted after inspector.keepDays; raise it to replay older turns.',
  messages:
    'The messages of this turn are no longer kept, or the turn has not ended. They are deleted after retention.messageDays.',
  files: 'A file that was sent with this turn is gone: the bytes of files are kept for a day.',
  forgotten: 'A text in this turn was forgotten because a person asked for it.',
  history:
    'The conversation before this turn is not what the model read then: a message was removed or replaced.',
  settings:
    'The settings have changed who reads this turn or which format its answer has, so its request would be another one.',
};

export function createIncomplete(
  about: TurnRecord['about'],
  missing: MissingFact,
): IncompleteOutcome {
  return { ...about, kind: 'incomplete', missing, hint: HINTS[missing] };
}

/** Reads a turn; null if nothing of it is known. */
export async function readTurnRecord(
  services: RecordServices,
  turnId: string,
  signal: AbortSignal,
): Promise<TurnRecord | IncompleteOutcome | null> {
  const { store } = services;
  const stored = await store.recordedTurns.ofTurn(turnId);
  const prompt = await readPrompt(store, turnId);
  if (stored === null && prompt === null) return null;
  const about = describeTurn(turnId, stored, prompt);
  if (prompt === null) return createIncomplete(about, 'record');
  if (stored === null || stored.messages.length === 0 || stored.state === 'running')
    return createIncomplete(about, 'messages');
  const started = await startRecordedTurn(services, stored, prompt.at);
  if (started === null) return createIncomplete(about, 'messages');
  const { turn } = started;
  const hasMedia = turn.purpose.kind === 'chat';
  const place = toSummaryKey(turn, turn.reader);
  const end = { before: stored.ownEntry, at: prompt.at };
  const { entries } = turn.purpose.kind === 'heartbeat' ? { entries: 0 } : services.history;
  const journal = openJournal(stored, { conversationId: '', epoch: 0 }, NO_JOURNAL);
  return {
    ...{ about, prompt, ...started, messages: stored.messages },
    past: await store.recordedTurns.past(place, end, entries),
    media: hasMedia ? await readMedia(services, turn, prompt, signal) : createEmptyTurnMedia(),
    lacksFiles: hasMedia && (await lacksFiles(store, turn)),
    rounds: journal.rounds(),
    opened: journal.opened(),
    before: summarizeSteps(stored.steps, stored.model ?? prompt.model, stored.messages),
  };
}

/** A text of the prompt may be missing, if two processes forgot text at the same time. */
async function readPrompt({ prompts }: ReplayStore, turnId: string): Promise<StoredPrompt | null> {
  return prompts.ofTurn(turnId).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'store-damaged') return null;
    throw error;
  });
}

function describeTurn(
  turnId: string,
  stored: RecordedTurn | null,
  prompt: StoredPrompt | null,
): TurnRecord['about'] {
  const texts = stored?.messages.map(({ message }) => message.text) ?? [];
  return {
    turnId,
    conversationId: stored?.conversationId ?? prompt?.conversationId ?? '',
    at: prompt?.at ?? stored?.finishedAt ?? 0,
    question: texts.filter((text) => text !== '').join('\n\n'),
    resumed: stored !== null && isResumed(stored),
  };
}

/** Whether a run of the turn began after a step of an earlier one. */
function isResumed({ runs, steps }: RecordedTurn): boolean {
  const [first] = steps;
  return first !== undefined && runs.slice(1).some((at) => at >= first.storedAt);
}

/** Computes the turn as its run did; null if the sub-agent that it belongs to is not kept. */
async function startRecordedTurn(
  { store, agent, owners, subAgentLimits = DEFAULT_SUB_AGENT_LIMITS }: RecordServices,
  stored: RecordedTurn,
  at: number,
): Promise<Pick<TurnRecord, 'turn' | 'lane'> | null> {
  const { turnId, conversationId, session, messages, steps, target } = stored;
  const claimed: ClaimedTurn = {
    ...{ turnId, conversationId, session, messages, steps },
    ...{ resumed: false, attempts: 0, groupContext: [] },
  };
  const context = { agent, owners, clock: () => at };
  if (target !== null) {
    const { turn, note } = startHeartbeat(claimed, { target }, context);
    return { turn, lane: (chat) => createHeartbeatPrompt(chat, note) };
  }
  if (isLane(conversationId, SUB_AGENT_LANE)) {
    const run = await store.subAgents.of(conversationId);
    if (run === null) return null;
    const turn = startTurn(claimed, createSubAgentPurpose(run, context), context, at);
    return { turn, lane: (chat) => createSubAgentPrompt(chat, run, subAgentLimits) };
  }
  const rest = messages.flatMap(removeCompactCommand);
  if (rest.length === 0) return null;
  const turn = startTurn({ ...claimed, messages: rest }, CHAT, context, at);
  return { turn, lane: (chat) => chat };
}

async function readMedia(
  { store, media, contextTokens, log }: RecordServices,
  turn: Turn,
  { model }: StoredPrompt,
  signal: AbortSignal,
): Promise<TurnMedia> {
  // Only a new transcript is ever stored, and without a speech service there is none.
  const attachments = { ...store.attachments, keepText: async () => {} };
  const deps = {
    ...{ log, clock: () => 0, store: { attachments } },
    contextTokens: contextTokens && (() => contextTokens(model)),
    media: { ...media, transcription: undefined },
  };
  return readTurnMedia(deps, turn.messages, turn.reader, signal);
}

async function lacksFiles({ attachments }: ReplayStore, { messages }: Turn): Promise<boolean> {
  const sent = messages.filter(({ message }) => message.attachments !== undefined);
  const stored = await attachments.ofMessages(sent.map(({ seq }) => seq));
  return stored.some(
    ({ state, isKept, text }) => state === 'ready' && isKept === 0 && text === null,
  );
}

/** Reading never appends. */
const NO_JOURNAL = {
  turns: { appendStep: async () => 'fenced' as const },
  clock: () => 0,
};

const AskedStep = z.object({ kind: z.enum(['model', 'answer']) });

/** Sums up the steps of a turn, recorded or replayed. `model` is used if no step names one. */
export function summarizeSteps(
  steps: readonly RecordedStep[],
  model: string,
  messages: ClaimedTurn['messages'],
): ReplayedAnswer {
  const journal = openJournal(
    { turnId: '', steps, messages },
    { conversationId: '', epoch: 0 },
    NO_JOURNAL,
  );
  const { answer } = journal;
  const usage = answer?.usage ?? journal.spent();
  const waits = steps.flatMap(({ content, startedAt, storedAt }) =>
    startedAt !== null && AskedStep.safeParse(content).success ? [storedAt - startedAt] : [],
  );
  return {
    text: answer?.text ?? journal.rounds().at(-1)?.step.text ?? '',
    calls: journal
      .rounds()
      .flatMap(({ step }) =>
        step.calls.map(({ name, arguments: written }) => ({ name, arguments: written })),
      ),
    usage,
    latencyMs: waits.length === 0 ? null : waits.reduce((sum, one) => sum + one, 0),
    model: usage?.model ?? model,
  };
}
