import { setImmediate } from 'node:timers/promises';
import type { BeatVerdict, JudgeBeat } from '@parley/contracts';
import { renderInSteps } from '@parley/markup';
import type { ContextSource, HeartbeatNote } from '@parley/prompt';
import type { RunTurn } from '@parley/queue';
import {
  type BeatRun,
  type BeatTurn,
  type ClaimedTurn,
  HEARTBEAT_LANE,
  type Lease,
  type Store,
} from '@parley/store';
import { marked } from '../answer/system-mark.ts';
import { whatIsSeen } from '../answer/what-is-seen.ts';
import { GAVE_UP } from '../failure-words.ts';
import { spoken, textOf } from '../history.ts';
import { openJournal, type TurnJournal } from '../loop/turn-journal.ts';
import type { TurnLimits } from '../loop/turn-limits.ts';
import { unseenMedia } from '../media/turn-media.ts';
import { accountOf } from '../spend/spend-guard.ts';
import { mute, turnOfItsChat } from '../sub-agents/sub-agent-opening.ts';
import { leadingMessage, turnFacts } from '../turn-facts.ts';
import { openTurn, turnReader } from '../turn-opening.ts';
import { answerOrWhy, MAX_ATTEMPTS, type TurnRunnerDeps } from '../turn-runner.ts';
import { isOwnersAlone, readTask } from './beat-order.ts';
import { beatTools } from './beat-tools.ts';

/** What running heartbeats needs besides what every turn does. */
export interface BeatRunnerDeps extends TurnRunnerDeps {
  readonly store: TurnRunnerDeps['store'] & Pick<Store, 'heartbeats'>;
  readonly heartbeat: {
    readonly judge: JudgeBeat;
    /** What one run may use: its steps, and what is left of the day’s tokens. */
    readonly limits: (run: BeatRun) => Promise<Partial<TurnLimits>>;
  };
}

/**
 * Runs the turns of heartbeats itself (H05) and leaves all others to `runTurn`: without history, with
 * few tools, watched by nobody; and what it says is told only if it is an alert (H03, H04).
 */
export function withHeartbeats(deps: BeatRunnerDeps, runTurn: RunTurn): RunTurn {
  return async (turn, lease, signal) => {
    if (!turn.conversationId.startsWith(HEARTBEAT_LANE)) return runTurn(turn, lease, signal);
    const run = await deps.store.heartbeats.of(leadingMessage(turn).message.messageId);
    if (run === null) throw new Error(`The lane ${turn.conversationId} has no heartbeat.`);
    await runBeat(deps, run, turn, lease, signal);
  };
}

async function runBeat(
  deps: BeatRunnerDeps,
  run: BeatRun,
  claimed: ClaimedTurn,
  lease: Lease,
  signal: AbortSignal,
): Promise<void> {
  const { note, turn } = readTask(turnOfItsChat(claimed));
  const journal = openJournal(turn, lease, { turns: deps.store.turns, clock: deps.clock });
  const answer = await answerOf(deps, { run, note, turn, journal }, signal);
  const facts = { agent: run.agent, task: run.task, turn: turn.turnId };
  if ('outcome' in answer) {
    deps.log.info({ ...facts, outcome: answer.outcome }, 'heartbeat');
    return;
  }
  const ended = await endOf(deps, { run, turn, journal }, answer);
  const committed = await deps.store.heartbeats.commit(lease, ended, deps.clock());
  const { state, reason } = ended;
  deps.log.info({ ...facts, state, reason, committed }, 'heartbeat');
  if (committed === 'fenced') return;
  deps.pass('turn-committed');
  const { channel, account, chatId } = leadingMessage(turn).route;
  if (ended.alert !== undefined) await deps.deliver(channel, account, chatId);
}

interface Beating {
  readonly run: BeatRun;
  readonly turn: ClaimedTurn;
  readonly journal: TurnJournal;
}

type Answer = Awaited<ReturnType<typeof answerOrWhy>>;
type Found = Exclude<Answer, { outcome: unknown }>;

/** Of a talk, which a heartbeat is not; looking it up may take a model of its own. */
const NOT_GATHERED: ReadonlySet<string> = new Set(['yesterday', 'memory', 'todos', 'bootstrap']);

async function answerOf(
  deps: BeatRunnerDeps,
  { run, note, turn, journal }: Beating & { readonly note: HeartbeatNote },
  signal: AbortSignal,
): Promise<Answer> {
  if (turn.attempts >= MAX_ATTEMPTS) {
    return { words: GAVE_UP, reason: `begun ${turn.attempts} times` };
  }
  const media = unseenMedia();
  // What stands in HEARTBEAT.md is the owner’s.
  const origin = { said: [note.task, note.instruction], foreignWords: false };
  const opened = { ...(await openBeat(deps, run, turn)), origin };
  const { hooks: _hooks, compactor: _compactor, tools, ...shared } = deps;
  const own: TurnRunnerDeps = {
    ...shared,
    // Light (H05): what it needs to know beyond its task it can read.
    promptMode: 'minimal',
    sources: [...deps.sources.filter(({ id }) => !NOT_GATHERED.has(id)), taskSource(note)],
    limits: { ...deps.limits, ...(await deps.heartbeat.limits(run)) },
    history: { entries: 0, tokens: 0 },
    bus: mute(deps.bus),
    ...(tools !== undefined && { tools: beatTools(tools) }),
  };
  return answerOrWhy(own, { turn, media, opened, journal }, signal);
}

/** For the one who is told of alerts, and for nobody who may see more (W02). */
async function openBeat(deps: BeatRunnerDeps, { target }: BeatRun, turn: ClaimedTurn) {
  const { kind } = turnReader(turn, deps);
  const { message, route } = leadingMessage(turn);
  const isOwners = kind === 'owner' && isOwnersAlone({ chatType: message.chat.type }, route);
  const reader = { kind: isOwners ? kind : ('guest' as const), conversationId: target };
  const text = textOf(turn.messages, unseenMedia().forModel);
  return openTurn(turn, text, deps, reader);
}

function taskSource(heartbeat: HeartbeatNote): ContextSource {
  return { id: 'heartbeat-task', gather: async () => ({ heartbeat }) };
}

async function endOf(
  { agent, clock, heartbeat }: BeatRunnerDeps,
  { run, turn, journal }: Beating,
  answer: Found,
): Promise<BeatTurn> {
  const account = accountOf(turnFacts(turn, agent, clock()), agent, clock);
  const base = { turnId: turn.turnId, entries: [], parts: [], account };
  if ('words' in answer) {
    const { reason } = answer;
    const commit = { ...base, outcome: 'failed' as const, reason, usage: journal.spent() };
    return { id: run.id, commit, state: 'failed', reason };
  }
  const verdict = await verdictOf(heartbeat.judge, answer.text, run);
  const { usage } = answer;
  if (verdict.state !== 'alerted') {
    const { state, reason } = verdict;
    return {
      id: run.id,
      commit: { ...base, outcome: 'silent', reason, usage },
      state,
      reason,
    };
  }
  const alert = await alertOf(turn, verdict);
  const commit = { ...base, outcome: 'answered' as const, usage };
  return { id: run.id, commit, state: 'alerted', reason: null, alert };
}

/** An alert of which nobody would see anything is none (H03). */
async function verdictOf(judge: JudgeBeat, text: string, run: BeatRun): Promise<BeatVerdict> {
  const verdict = await judge(text, run);
  if (verdict.state !== 'alerted') return verdict;
  const seen = whatIsSeen(verdict.text, { known: new Set() });
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
