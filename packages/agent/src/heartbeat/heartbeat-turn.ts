import { setImmediate } from 'node:timers/promises';
import {
  BEAT_ROUTINES,
  type BeatVerdict,
  type JudgeBeat,
  type ReplyRoute,
  type RuntimeFacts,
  silentTracer,
} from '@parley/contracts';
import { renderInSteps } from '@parley/markup';
import type { ContextSource, HeartbeatNote } from '@parley/prompt';
import type { BeatRun, BeatTurn, ClaimedTurn, Lease, Store } from '@parley/store';
import { z } from 'zod';
import { marked, visibleText } from '../answer/visible-text.ts';
import { asksAlways } from '../approvals/approval-policy.ts';
import { type Ending, GAVE_UP } from '../end-turn.ts';
import { openJournal, type StepUsage, type TurnJournal } from '../loop/turn-journal.ts';
import { DEFAULT_TURN_LIMITS, type TurnLimits } from '../loop/turn-loop.ts';
import { unseenMedia } from '../media/turn-media.ts';
import { accountOf } from '../spend.ts';
import { TimeUpError } from '../time-limit.ts';
import { type ToolRegistry, withoutTools } from '../tools/tool-registry.ts';
import { maySpend } from '../turn-answer.ts';
import {
  inItsChat,
  leadingMessage,
  muted,
  type OpenedTurn,
  type OpenTurnDeps,
  openTurn,
  spoken,
  textOf,
  turnFacts,
  turnReader,
} from '../turn-opening.ts';
import { answerOrFailure, MAX_ATTEMPTS, orFailure, type TurnRunnerDeps } from '../turn-runner.ts';
import { memoryUpkeep, type UpkeepEnd } from '../upkeep/memory-upkeep.ts';

export interface HeartbeatRunnerDeps extends TurnRunnerDeps {
  readonly store: TurnRunnerDeps['store'] & Pick<Store, 'heartbeats'>;
  readonly heartbeat: {
    readonly judge: JudgeBeat;
    /** Limits of one run: its steps, and what is left of the day’s tokens. */
    readonly limits: (run: BeatRun) => Promise<Partial<TurnLimits>>;
  };
}

/** A run of a standing task, its turn, and the journal of that. */
interface HeartbeatTurn {
  readonly run: BeatRun;
  readonly turn: ClaimedTurn;
  readonly journal: TurnJournal;
}

/** Runs the turn of a heartbeat and commits its result. */
export async function runHeartbeat(
  deps: HeartbeatRunnerDeps,
  run: BeatRun,
  claimed: ClaimedTurn,
  lease: Lease,
  signal: AbortSignal,
): Promise<void> {
  const { note, turn, routine } = readTask(inItsChat(claimed));
  const journal = openJournal(turn, lease, { turns: deps.store.turns, clock: deps.clock });
  const current = { run, turn, journal };
  const ended = await (routine === undefined
    ? endOfTask(deps, current, await answerOf(deps, current, note, signal))
    : runRoutine(deps, current, routine, signal));
  const facts = { agent: run.agent, task: run.task, turn: turn.turnId };
  if ('outcome' in ended) {
    deps.log.info({ ...facts, outcome: ended.outcome }, 'heartbeat');
    return;
  }
  const { tracer = silentTracer } = deps;
  const committed = await tracer.span('parley.outbox', {}, ({ trace }) => {
    const commit = { ...ended.commit, trace };
    return deps.store.heartbeats.commit(lease, { ...ended, commit }, deps.clock());
  });
  const { state, reason } = ended;
  deps.log.info({ ...facts, state, reason, committed }, 'heartbeat');
  if (committed === 'fenced') return;
  deps.pass('turn-committed');
  const { channel, account, chatId } = leadingMessage(turn).route;
  if (ended.alert !== undefined) await deps.deliver(channel, account, chatId);
}

type Answer = Awaited<ReturnType<typeof answerOrFailure>>;

/** Sources for conversations; some of them ask a model. */
const EXCLUDED_SOURCES: ReadonlySet<string> = new Set([
  'yesterday',
  'memory',
  'todos',
  'bootstrap',
]);

async function answerOf(
  deps: HeartbeatRunnerDeps,
  { run, turn, journal }: HeartbeatTurn,
  note: HeartbeatNote,
  signal: AbortSignal,
): Promise<Answer> {
  if (turn.attempts >= MAX_ATTEMPTS) {
    return { words: GAVE_UP, reason: `begun ${turn.attempts} times` };
  }
  const media = unseenMedia();
  // HEARTBEAT.md is the owner’s text.
  const origin = { said: [note.task, note.instruction], foreignWords: false };
  const opened = { ...(await openHeartbeatTurn(deps, run, turn)), origin };
  const task: ContextSource = {
    id: 'heartbeat-task',
    gather: async () => ({ heartbeat: note }),
  };
  const { hooks: _hooks, compactor: _compactor, tools, ...shared } = deps;
  const own: TurnRunnerDeps = {
    ...shared,
    // Light (H05): tools can read what it needs beyond its task.
    promptMode: 'minimal',
    sources: [...deps.sources.filter(({ id }) => !EXCLUDED_SOURCES.has(id)), task],
    limits: { ...deps.limits, ...(await deps.heartbeat.limits(run)) },
    history: { entries: 0, tokens: 0 },
    bus: muted(deps.bus),
    ...(tools !== undefined && { tools: heartbeatTools(tools) }),
  };
  return answerOrFailure(own, { turn, media, opened, journal }, signal);
}

/** Judges the answer; only an alert is delivered (H03). */
async function endOfTask(
  deps: HeartbeatRunnerDeps,
  current: HeartbeatTurn,
  answer: Answer,
): Promise<BeatTurn | Ending> {
  const { run, turn, journal } = current;
  if ('outcome' in answer) return answer;
  if ('words' in answer) {
    const { reason } = answer;
    return silentEnd(deps, current, { state: 'failed', reason, usage: journal.spent() });
  }
  const verdict = await verdictOf(deps.heartbeat.judge, answer.text, run);
  const { usage } = answer;
  if (verdict.state !== 'alerted') return silentEnd(deps, current, { ...verdict, usage });
  const alert = await alertOf(turn, verdict);
  const commit = { ...commitOf(deps, turn), outcome: 'answered' as const, usage };
  return { id: run.id, commit, state: 'alerted', reason: null, alert };
}

/** An alert without visible text is none (H03). */
async function verdictOf(judge: JudgeBeat, text: string, run: BeatRun): Promise<BeatVerdict> {
  const verdict = await judge(text, run);
  if (verdict.state !== 'alerted') return verdict;
  const seen = visibleText(verdict.text, { known: new Set() });
  if (seen.kind === 'silent') return { state: 'quiet', reason: seen.reason };
  return { ...verdict, text: seen.text };
}

async function alertOf(
  turn: ClaimedTurn,
  { text, fingerprint, heldUntil }: Extract<BeatVerdict, { state: 'alerted' }>,
): Promise<NonNullable<BeatTurn['alert']>> {
  const { route } = leadingMessage(turn);
  const words = marked(text);
  const bodies = await renderInSteps(words, route.target, setImmediate);
  return {
    text,
    fingerprint,
    entry: spoken('assistant', words),
    parts: bodies.map((body) => ({ route, body })),
    ...(heldUntil !== undefined && { heldUntil }),
  };
}

/** Runs a built-in routine (H07); it never sends a message. */
async function runRoutine(
  deps: HeartbeatRunnerDeps,
  current: HeartbeatTurn,
  routine: string,
  signal: AbortSignal,
): Promise<BeatTurn | Ending> {
  const { turn, journal } = current;
  const failed = (reason: string) =>
    silentEnd(deps, current, { state: 'failed', reason, usage: journal.answer?.usage ?? null });
  if (turn.attempts >= MAX_ATTEMPTS) return failed(`${GAVE_UP} (begun ${turn.attempts} times)`);
  if (!BEAT_ROUTINES.some((name) => name === routine)) {
    return failed(`HEARTBEAT.md runs "${routine}", and this version of Parley has no such routine`);
  }
  const end = await upkeepEnd(deps, current, signal);
  if ('outcome' in end) return end;
  return 'words' in end ? failed(end.reason) : silentEnd(deps, current, end);
}

async function upkeepEnd(
  deps: HeartbeatRunnerDeps,
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
  };
  return orFailure(() => inTime(() => memoryUpkeep(deps, upkeep, signal)), opened.reader, signal);
}

/** A model that takes too long fails this run, not the worker. */
async function inTime(work: () => Promise<UpkeepEnd | null>): Promise<UpkeepEnd | null> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TimeUpError)) throw error;
    return { state: 'failed', reason: `the model: ${error.message}`, usage: null };
  }
}

/** Opens the turn for the reader of the alerts, who must not see more than they may (W02). */
async function openHeartbeatTurn(
  deps: OpenTurnDeps,
  { target }: BeatRun,
  turn: ClaimedTurn,
): Promise<OpenedTurn> {
  const { kind } = turnReader(turn, deps);
  const { message, route } = leadingMessage(turn);
  const isOwners = kind === 'owner' && isOwnersAlone({ chatType: message.chat.type }, route);
  const reader = { kind: isOwners ? kind : ('guest' as const), conversationId: target };
  const text = textOf(turn.messages, unseenMedia().forModel);
  return openTurn(turn, text, deps, reader);
}

interface SilentEnd extends Pick<BeatTurn, 'reason'> {
  readonly state: Exclude<BeatTurn['state'], 'alerted'>;
  readonly usage: StepUsage | null;
}

/** The end of a run without an alert. */
function silentEnd(
  deps: OpenTurnDeps,
  { run, turn }: HeartbeatTurn,
  { state, reason, usage }: SilentEnd,
): BeatTurn {
  const outcome = state === 'failed' ? ('failed' as const) : ('silent' as const);
  const base = commitOf(deps, turn);
  const commit = { ...base, outcome, usage, ...(reason !== null && { reason }) };
  return { id: run.id, commit, state, reason };
}

function commitOf({ agent, clock }: OpenTurnDeps, turn: ClaimedTurn) {
  const account = accountOf(turnFacts(turn, agent, clock()), agent, clock);
  return { turnId: turn.turnId, entries: [], parts: [], account };
}

/** The variables of the message: the task as it was when the run started. */
const Note = z.object({ task: z.string(), instruction: z.string(), schedule: z.string() });
const Routine = z.object({ routine: z.string().optional() });

/** The task of a run, and its turn without it: the prompt has a layer for it. */
function readTask(turn: ClaimedTurn): {
  readonly note: HeartbeatNote;
  readonly turn: ClaimedTurn;
  /** A built-in routine in place of an instruction. */
  readonly routine: string | undefined;
} {
  const { variables } = leadingMessage(turn).message;
  const note = Note.parse(variables);
  const { routine } = Routine.parse(variables);
  const messages = turn.messages.map((row) => ({
    ...row,
    message: { ...row.message, variables: {} },
  }));
  return { note, turn: { ...turn, messages }, routine };
}

/**
 * Whether only the owner reads alerts. Both must say so: a route into a group makes every reader a
 * guest, whatever the message says (W02).
 */
function isOwnersAlone(
  { chatType }: Pick<RuntimeFacts, 'chatType'>,
  route: Pick<ReplyRoute, 'chatType'>,
): boolean {
  return chatType === 'direct' && (route.chatType ?? 'direct') === 'direct';
}

/** A heartbeat reports by its answer alone (H03); to-dos and SOUL.md belong to conversations. */
const EXCLUDED_TOOLS: ReadonlySet<string> = new Set([
  ...['message', 'delegate_task', 'cron'],
  ...['write_todos', 'propose_soul_change'],
]);

/** Without tools that always need an approval: no person could give it. */
function heartbeatTools(tools: ToolRegistry): ToolRegistry {
  return {
    for(reader) {
      const all = tools.for(reader);
      return withoutTools(all, (name) => EXCLUDED_TOOLS.has(name) || asksAlways(all.get(name)));
    },
  };
}
