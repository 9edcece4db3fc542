import { HEARTBEAT_ROUTINES, type HeartbeatVerdict, inlineCode } from '@parley/core';
import type { ContextSource, HeartbeatNote } from '@parley/prompt';
import type { ClaimedTurn, HeartbeatEnd, HeartbeatRun, Lease } from '@parley/store';
import { z } from 'zod';
import { marked, visibleText } from '../answer/visible-text.ts';
import type { Ending } from '../end-turn.ts';
import { openJournal, type StepUsage, type TurnJournal } from '../loop/turn-journal.ts';
import { DEFAULT_TURN_LIMITS } from '../loop/turn-limits.ts';
import { unseenMedia } from '../media/turn-media.ts';
import { renderParts } from '../post-message.ts';
import { accountOfTurn } from '../spend.ts';
import { TimeUpError } from '../time.ts';
import { maySpend } from '../turn-answer.ts';
import {
  type AgentContext,
  leadingMessage,
  type OpenedTurn,
  openTurn,
  spoken,
  textOf,
  turnReader,
} from '../turn-opening.ts';
import type { PromptServices } from '../turn-prompt.ts';
import { orFailure, whyHopeless } from '../turn-runner.ts';
import type { TurnServices } from '../turn-services.ts';
import { answerUnseen, inItsChat, type UnseenAnswer, unseenServices } from '../unseen-turn.ts';
import { memoryUpkeep, type UpkeepEnd } from '../upkeep/memory-upkeep.ts';

interface HeartbeatTurn {
  readonly run: HeartbeatRun;
  readonly turn: ClaimedTurn;
  readonly journal: TurnJournal;
  /** The hook whose event it is (H09). */
  readonly hook: string | undefined;
}

export async function runHeartbeat(
  deps: TurnServices,
  run: HeartbeatRun,
  claimed: ClaimedTurn,
  lease: Lease,
  signal: AbortSignal,
): Promise<void> {
  const { note, turn, routine, hook } = readTask(inItsChat(claimed));
  const journal = openJournal(turn, lease, { turns: deps.store.turns, clock: deps.clock });
  const current = { run, turn, journal, hook };
  const ended = await (routine === undefined
    ? endOfTask(deps, current, await answerOf(deps, current, note, signal))
    : runRoutine(deps, current, routine, signal));
  const facts = { agent: run.agent, task: run.task, turn: turn.turnId };
  if ('outcome' in ended) {
    deps.log.info({ ...facts, outcome: ended.outcome }, 'heartbeat');
    return;
  }
  const committed = await deps.tracer.span('parley.outbox', {}, ({ trace }) => {
    const commit = { ...ended.commit, trace };
    return deps.store.heartbeats.commit(lease, { ...ended, commit }, deps.clock());
  });
  const { state, reason } = ended;
  deps.log.info({ ...facts, state, reason, committed }, 'heartbeat');
  if (committed === 'fenced') return;
  if (hook !== undefined) deps.meter.count('parley_hook_runs_total', { hook, outcome: state });
  deps.pass('turn-committed');
  const { channel, account, chatId } = leadingMessage(turn).route;
  if (ended.alert !== undefined) await deps.deliver(channel, account, chatId);
}

/** Sources for conversations; some of them ask a model. */
const EXCLUDED_SOURCES: ReadonlySet<string> = new Set([
  'yesterday',
  'memory',
  'todos',
  'bootstrap',
]);

/** A heartbeat reports by its answer alone (H03); to-dos and SOUL.md belong to conversations. */
const EXCLUDED_TOOLS: ReadonlySet<string> = new Set([
  ...['message', 'delegate_task', 'cron', 'ask_user', 'send_file'],
  ...['react', 'edit_message', 'delete_message'],
  ...['write_todos', 'propose_soul_change'],
]);

async function answerOf(
  deps: TurnServices,
  current: HeartbeatTurn,
  note: HeartbeatNote,
  signal: AbortSignal,
): Promise<UnseenAnswer> {
  const prepare = async () => ({
    ...(await openTask(deps, current, note)),
    limits: { ...deps.limits, ...(await deps.heartbeat.limits(current.run)) },
    compactor: undefined,
  });
  return answerUnseen(deps, current, prepare, signal);
}

interface OpenTask extends Pick<HeartbeatTurn, 'turn' | 'hook'> {
  readonly run: Pick<HeartbeatRun, 'target'>;
}

/**
 * All that the request of a run is made from, also for a preview (H10): light (H05), in the agent's own voice. Tools
 * can read what a run needs beyond its task.
 */
async function openTask(
  deps: AgentContext & Pick<TurnServices, 'sources'>,
  { run, turn, hook }: OpenTask,
  note: HeartbeatNote,
) {
  // HEARTBEAT.md and the settings are the owner’s text; an event is not (G05).
  const origin = {
    said: [note.task, note.instruction, note.context ?? ''],
    untrustedText: hook !== undefined,
  };
  const task: ContextSource = {
    id: 'heartbeat-task',
    gather: async () => ({ heartbeat: note }),
  };
  return {
    opened: { ...(await openHeartbeatTurn(deps, run, turn)), origin },
    sources: [...deps.sources.filter(({ id }) => !EXCLUDED_SOURCES.has(id)), task],
    history: { entries: 0, tokens: 0 },
    promptMode: 'light' as const,
    withheld: EXCLUDED_TOOLS,
  };
}

/** The run that a preview shows. `claimed`: as a worker claims it. */
export async function heartbeatRequest<Services extends PromptServices>(
  deps: Services,
  run: Pick<HeartbeatRun, 'target'>,
  claimed: ClaimedTurn,
) {
  const { note, turn, hook } = readTask(inItsChat(claimed));
  const { opened, withheld, ...own } = await openTask(deps, { run, turn, hook }, note);
  return { turn, opened, services: { ...unseenServices(deps, withheld), ...own } };
}

async function endOfTask(
  deps: TurnServices,
  current: HeartbeatTurn,
  answer: UnseenAnswer,
): Promise<HeartbeatEnd | Ending> {
  const { run, turn, hook } = current;
  if ('outcome' in answer) return answer;
  const isUrgent = hook !== undefined && leadingMessage(turn).message.chat.type !== 'direct';
  if ('notice' in answer) return failedEnd(deps, current, answer, isUrgent);
  const verdict = await deps.heartbeat.judge(answer.text, { ...run, isUrgent });
  const { usage } = answer;
  if (verdict.state !== 'alerted') return silentEnd(deps, current, { ...verdict, usage });
  const seen = visibleText(verdict.text, { known: new Set() });
  if (seen.kind === 'silent')
    return silentEnd(deps, current, { state: 'quiet', reason: seen.reason, usage });
  const alert = await alertOf(turn, { ...verdict, text: seen.text });
  const commit = { ...commitOf(deps, turn), outcome: 'answered' as const, usage };
  return { id: run.id, commit, state: 'alerted', reason: null, alert };
}

/** Of a standing task nobody hears: it runs again. An event does not come again, so its failure is reported. */
async function failedEnd(
  deps: TurnServices,
  current: HeartbeatTurn,
  { notice, reason }: Extract<UnseenAnswer, { notice: string }>,
  isUrgent: boolean,
): Promise<HeartbeatEnd> {
  const { run, turn, journal, hook } = current;
  const end = silentEnd(deps, current, { state: 'failed', reason, usage: journal.spent() });
  if (hook === undefined) return end;
  const text = `I could not do what the hook ${inlineCode(hook)} asks for with an event: ${notice}`;
  const verdict = await deps.heartbeat.judge(text, { ...run, isUrgent });
  return verdict.state === 'alerted' ? { ...end, alert: await alertOf(turn, verdict) } : end;
}

async function alertOf(
  turn: ClaimedTurn,
  { text, fingerprint, heldUntil }: Extract<HeartbeatVerdict, { state: 'alerted' }>,
): Promise<NonNullable<HeartbeatEnd['alert']>> {
  const { route } = leadingMessage(turn);
  const shown = marked(text);
  return {
    text,
    fingerprint,
    entry: spoken('assistant', shown),
    parts: await renderParts(shown, route),
    ...(heldUntil !== undefined && { heldUntil }),
  };
}

/** Runs a built-in routine (H07); it never sends a message. */
async function runRoutine(
  deps: TurnServices,
  current: HeartbeatTurn,
  routine: string,
  signal: AbortSignal,
): Promise<HeartbeatEnd | Ending> {
  const { turn, journal } = current;
  const failed = (reason: string) =>
    silentEnd(deps, current, { state: 'failed', reason, usage: journal.answer?.usage ?? null });
  const hopeless = whyHopeless(deps, turn);
  if (hopeless !== null) return failed(`${hopeless.notice} (${hopeless.reason})`);
  if (!HEARTBEAT_ROUTINES.some((name) => name === routine)) {
    return failed(`HEARTBEAT.md runs "${routine}", and this version of Parley has no such routine`);
  }
  const end = await upkeepEnd(deps, current, signal);
  if ('outcome' in end) return end;
  return 'notice' in end ? failed(end.reason) : silentEnd(deps, current, end);
}

async function upkeepEnd(
  deps: TurnServices,
  { run, turn, journal }: HeartbeatTurn,
  signal: AbortSignal,
) {
  const opened = await openHeartbeatTurn(deps, run, turn);
  const { tokens = DEFAULT_TURN_LIMITS.tokens } = await deps.heartbeat.limits(run);
  const upkeep = {
    view: opened.view,
    today: opened.facts.date,
    journal,
    tokens,
    maySpend: () => maySpend(deps, turn, opened, null),
    bounds: deps.heartbeat.upkeep,
  };
  const work = () =>
    memoryUpkeep(deps, upkeep, signal).catch((error: unknown): UpkeepEnd => {
      // A model that takes too long fails this run, not the worker.
      if (!(error instanceof TimeUpError)) throw error;
      return { state: 'failed', reason: `the model: ${error.message}`, usage: null };
    });
  return orFailure(work, opened.reader, signal);
}

/** Opens the turn for the reader of the alerts, who must not see more than they may (W02). */
async function openHeartbeatTurn(
  deps: AgentContext,
  { target }: Pick<HeartbeatRun, 'target'>,
  turn: ClaimedTurn,
): Promise<OpenedTurn> {
  const { kind } = turnReader(turn, deps);
  const { message, route } = leadingMessage(turn);
  // Both must say so: a route into a group makes every reader a guest, whatever the message says.
  const isOwners =
    kind === 'owner' && message.chat.type === 'direct' && (route.chatType ?? 'direct') === 'direct';
  const reader = { kind: isOwners ? kind : ('guest' as const), conversationId: target };
  const text = textOf(turn.messages, unseenMedia().forModel);
  return openTurn(turn, text, deps, reader);
}

interface SilentEnd extends Pick<HeartbeatEnd, 'reason'> {
  readonly state: Exclude<HeartbeatEnd['state'], 'alerted'>;
  readonly usage: StepUsage | null;
}

function silentEnd(
  deps: TurnServices,
  { run, turn }: HeartbeatTurn,
  { state, reason, usage }: SilentEnd,
): HeartbeatEnd {
  const outcome = state === 'failed' ? ('failed' as const) : ('silent' as const);
  const base = commitOf(deps, turn);
  const commit = { ...base, outcome, usage, ...(reason !== null && { reason }) };
  return { id: run.id, commit, state, reason };
}

function commitOf(deps: TurnServices, turn: ClaimedTurn) {
  return { turnId: turn.turnId, entries: [], parts: [], account: accountOfTurn(turn, deps) };
}

/** The variables of the message: the task as it was when the run started. */
const Task = z.object({
  task: z.string(),
  instruction: z.string(),
  schedule: z.string(),
  language: z.string().optional(),
  context: z.string().optional(),
  routine: z.string().optional(),
  hook: z.string().optional(),
});

/** The task of a run, and its turn without it: the prompt has a layer for it. */
function readTask(turn: ClaimedTurn) {
  const { variables } = leadingMessage(turn).message;
  const { routine, hook, context, ...task } = Task.parse(variables);
  const note = { ...task, ...(context !== undefined && { context }) };
  const messages = turn.messages.map((row) => ({
    ...row,
    message: { ...row.message, variables: {} },
  }));
  return { note, turn: { ...turn, messages }, routine, hook };
}
