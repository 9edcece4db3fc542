import { formatInlineCode, HEARTBEAT_ROUTINES, type HeartbeatVerdict } from '@parley/core';
import type { HeartbeatNote } from '@parley/prompt';
import type { LaneLease } from '@parley/queue';
import type { ClaimedTurn, HeartbeatRun, HeartbeatRunResult } from '@parley/store';
import { z } from 'zod';
import { getVisibleAnswer, markSystemMessage } from '../answer/visible-text.ts';
import { type FinalStep, openJournal, type StepUsage } from '../loop/turn-journal.ts';
import { DEFAULT_TURN_LIMITS } from '../loop/turn-limits.ts';
import { renderParts } from '../post-message.ts';
import { assertWithinBudget } from '../spend.ts';
import { TimeUpError } from '../time.ts';
import { answerTurn, catchModelFailure, type NoAnswer } from '../turn/answer-turn.ts';
import { openTurn } from '../turn/build-prompt.ts';
import type { TurnOutcome } from '../turn/commit-answer.ts';
import {
  createLaneMeans,
  createLanePrompt,
  type PromptMeans,
  type TurnServices,
} from '../turn/means.ts';
import type { TurnRun } from '../turn/run.ts';
import { findExhaustedReason } from '../turn/run-turn.ts';
import { type AgentContext, startTurn, type Turn } from '../turn/turn.ts';
import { createTextEntry } from '../turn/turn-text.ts';
import { runMemoryUpkeep, type UpkeepResult } from '../upkeep/memory-upkeep.ts';

interface HeartbeatTurn {
  readonly beat: HeartbeatRun;
  readonly turn: Turn;
  readonly run: TurnRun;
  /** The name of the hook that sent the event (H09). */
  readonly hook: string | undefined;
}

export async function runHeartbeat(
  services: TurnServices,
  beat: HeartbeatRun,
  claimed: ClaimedTurn,
  lease: LaneLease,
  signal: AbortSignal,
): Promise<void> {
  const { store, clock, log, tracer } = services;
  const { note, turn, routine, hook } = startHeartbeat(claimed, beat, services);
  const journal = openJournal(claimed, lease, { turns: store.turns, clock });
  const current = { beat, turn, run: { lease, signal, journal }, hook };
  const ended = await (routine === undefined
    ? finishHeartbeatTask(services, current, await answerHeartbeat(services, current, note))
    : runRoutine(services, current, routine));
  const facts = { agent: beat.agent, task: beat.task, turn: turn.turnId };
  if ('outcome' in ended) {
    log.info({ ...facts, outcome: ended.outcome }, 'heartbeat');
    return;
  }
  const committed = await tracer.span('parley.outbox', {}, ({ trace }) => {
    const commit = { ...ended.commit, trace };
    return store.heartbeats.commit(lease, { ...ended, commit }, clock());
  });
  const { state, reason } = ended;
  log.info({ ...facts, state, reason, committed }, 'heartbeat');
  if (committed === 'fenced') return;
  if (hook !== undefined) services.meter.count('parley_hook_runs_total', { hook, outcome: state });
  services.checkpoint('turn-committed');
  const { channel, account, chatId } = turn.route;
  if (ended.alert !== undefined) await services.deliver(channel, account, chatId);
}

/** The message variables: the task as it was when the run started. */
const Task = z.object({
  task: z.string(),
  instruction: z.string(),
  schedule: z.string(),
  language: z.string().optional(),
  context: z.string().optional(),
  routine: z.string().optional(),
  hook: z.string().optional(),
});

/**
 * Creates the turn for a heartbeat run and reads its task; previews use this function as well
 * (H10).
 */
export function startHeartbeat(
  claimed: ClaimedTurn,
  { target }: Pick<HeartbeatRun, 'target'>,
  services: Pick<AgentContext, 'agent' | 'owners' | 'clock'>,
) {
  const variables = claimed.messages.at(-1)?.message.variables;
  const { routine, hook, context, ...task } = Task.parse(variables);
  const note: HeartbeatNote = { ...task, ...(context !== undefined && { context }) };
  // HEARTBEAT.md and the settings contain the owner’s text; an event does not (G05).
  const said = [note.task, note.instruction, note.context ?? ''];
  const origin = { said, untrustedText: hook !== undefined };
  const purpose = { kind: 'heartbeat', target, origin } as const;
  return { note, turn: startTurn(claimed, purpose, services, services.clock()), routine, hook };
}

/** Sources that are used only in conversations. Some of these sources would call a model. */
const WITHHELD_SOURCES: ReadonlySet<string> = new Set([
  'yesterday',
  'memory',
  'todos',
  'bootstrap',
]);

/** A heartbeat reports only in its answer (H03), and to-dos and SOUL.md belong to conversations. */
const WITHHELD_TOOLS: ReadonlySet<string> = new Set([
  ...['message', 'delegate_task', 'cron', 'ask_user', 'send_file'],
  ...['react', 'edit_message', 'delete_message'],
  ...['write_todos', 'propose_soul_change'],
]);

/**
 * Builds a light prompt (H05) in the agent's own voice. The model reads any further context with
 * tools.
 */
export function createHeartbeatPrompt(chat: PromptMeans, note: HeartbeatNote): PromptMeans {
  return createLanePrompt(chat, {
    task: { id: 'heartbeat-task', gather: async () => ({ heartbeat: note }) },
    withheldTools: WITHHELD_TOOLS,
    withheldSources: WITHHELD_SOURCES,
    mode: 'light',
    hasHistory: false,
  });
}

async function answerHeartbeat(
  services: TurnServices,
  { beat, turn, run }: HeartbeatTurn,
  note: HeartbeatNote,
): Promise<FinalStep | NoAnswer> {
  const reason = findExhaustedReason(services, turn);
  if (reason !== null) return reason;
  const limits = await services.heartbeat.limits(beat);
  const prompt = (chat: PromptMeans) => createHeartbeatPrompt(chat, note);
  const means = { ...createLaneMeans(services, turn, prompt, limits), compactor: undefined };
  return answerTurn(services, turn, means, await openTurn(turn, services), run);
}

async function finishHeartbeatTask(
  services: TurnServices,
  current: HeartbeatTurn,
  answer: FinalStep | NoAnswer,
): Promise<HeartbeatRunResult | TurnOutcome> {
  const { beat, turn, hook } = current;
  if ('outcome' in answer) return answer;
  const isUrgent = hook !== undefined && turn.lead.message.chat.type !== 'direct';
  if ('notice' in answer) return finishFailedTask(services, current, answer, isUrgent);
  const verdict = await services.heartbeat.judge(answer.text, { ...beat, isUrgent });
  const { usage } = answer;
  if (verdict.state !== 'alerted') return finishSilently(current, { ...verdict, usage });
  const seen = getVisibleAnswer(verdict.text, { known: new Set() });
  if (seen.kind === 'silent')
    return finishSilently(current, { state: 'quiet', reason: seen.reason, usage });
  const alert = await createAlert(turn, { ...verdict, text: seen.text });
  const commit = { ...createEmptyCommit(turn), outcome: 'answered' as const, usage };
  return { id: beat.id, commit, state: 'alerted', reason: null, alert };
}

/**
 * A standing task runs again, so its failure is not reported. An event occurs only once, so its
 * failure is reported.
 */
async function finishFailedTask(
  services: TurnServices,
  current: HeartbeatTurn,
  { notice, reason }: Extract<NoAnswer, { notice: string }>,
  isUrgent: boolean,
): Promise<HeartbeatRunResult> {
  const { beat, turn, run, hook } = current;
  const end = finishSilently(current, { state: 'failed', reason, usage: run.journal.spent() });
  if (hook === undefined) return end;
  const text = `I could not handle an event from the hook ${formatInlineCode(hook)}: ${notice}`;
  const verdict = await services.heartbeat.judge(text, { ...beat, isUrgent });
  return verdict.state === 'alerted' ? { ...end, alert: await createAlert(turn, verdict) } : end;
}

async function createAlert(
  { route }: Turn,
  { text, fingerprint, heldUntil }: Extract<HeartbeatVerdict, { state: 'alerted' }>,
): Promise<NonNullable<HeartbeatRunResult['alert']>> {
  const shown = markSystemMessage(text);
  return {
    text,
    fingerprint,
    entry: createTextEntry('assistant', shown),
    parts: await renderParts(shown, route),
    ...(heldUntil !== undefined && { heldUntil }),
  };
}

/** Runs a built-in routine (H07). A routine never sends a message. */
async function runRoutine(
  services: TurnServices,
  current: HeartbeatTurn,
  routine: string,
): Promise<HeartbeatRunResult | TurnOutcome> {
  const { turn, run } = current;
  const failed = (reason: string) =>
    finishSilently(current, { state: 'failed', reason, usage: run.journal.answer?.usage ?? null });
  const exhausted = findExhaustedReason(services, turn);
  if (exhausted !== null) return failed(`${exhausted.notice} (${exhausted.reason})`);
  if (!HEARTBEAT_ROUTINES.some((name) => name === routine)) {
    return failed(
      `HEARTBEAT.md asks for the routine "${routine}", which this version of Parley does not have`,
    );
  }
  const end = await runUpkeepRoutine(services, current);
  if ('outcome' in end) return end;
  return 'notice' in end ? failed(end.reason) : finishSilently(current, end);
}

async function runUpkeepRoutine(services: TurnServices, { beat, turn, run }: HeartbeatTurn) {
  const { journal, signal } = run;
  const { view } = await openTurn(turn, services);
  const { tokens = DEFAULT_TURN_LIMITS.tokens } = await services.heartbeat.limits(beat);
  const upkeep = {
    view,
    today: turn.facts.date,
    journal,
    tokens,
    assertWithinBudget: () => assertWithinBudget(services, turn, null),
    bounds: services.heartbeat.upkeep,
  };
  const work = () =>
    runMemoryUpkeep(services, upkeep, signal).catch((error: unknown): UpkeepResult => {
      // A model that times out fails this run without failing the worker.
      if (!(error instanceof TimeUpError)) throw error;
      return { state: 'failed', reason: `the model: ${error.message}`, usage: null };
    });
  return catchModelFailure(work, turn.reader, signal);
}

interface SilentOutcome extends Pick<HeartbeatRunResult, 'reason'> {
  readonly state: Exclude<HeartbeatRunResult['state'], 'alerted'>;
  readonly usage: StepUsage | null;
}

function finishSilently(
  { beat, turn }: HeartbeatTurn,
  { state, reason, usage }: SilentOutcome,
): HeartbeatRunResult {
  const outcome = state === 'failed' ? ('failed' as const) : ('silent' as const);
  const commit = { ...createEmptyCommit(turn), outcome, usage, ...(reason !== null && { reason }) };
  return { id: beat.id, commit, state, reason };
}

function createEmptyCommit({ turnId, account }: Turn) {
  return { turnId, entries: [], parts: [], account };
}
