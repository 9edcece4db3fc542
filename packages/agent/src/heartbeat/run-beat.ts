import { setImmediate } from 'node:timers/promises';
import { type BeatVerdict, type JudgeBeat, silentTracer } from '@parley/contracts';
import { renderInSteps } from '@parley/markup';
import type { ContextSource, HeartbeatNote } from '@parley/prompt';
import type { BeatRun, BeatTurn, ClaimedTurn, Lease } from '@parley/store';
import { marked, visibleText } from '../answer/visible-text.ts';
import type { Ending } from '../end-turn.ts';
import { GAVE_UP } from '../end-turn.ts';
import { spoken } from '../history.ts';
import { openJournal } from '../loop/turn-journal.ts';
import { unseenMedia } from '../media/turn-media.ts';
import { accountOf } from '../spend.ts';
import { mute, turnOfItsChat } from '../sub-agents/sub-agent-opening.ts';
import { leadingMessage, turnFacts } from '../turn-opening.ts';
import { answerOrWhy, MAX_ATTEMPTS, type TurnRunnerDeps } from '../turn-runner.ts';
import { readTask } from './beat-order.ts';
import type { BeatRunnerDeps } from './beat-runner.ts';
import { beatTools } from './beat-tools.ts';
import { type Beating, openBeat, untold } from './open-beat.ts';
import { routineBeat } from './routine-beat.ts';

/** Runs the turn of a heartbeat to its end, and commits what became of it. */
export async function runBeat(
  deps: BeatRunnerDeps,
  run: BeatRun,
  claimed: ClaimedTurn,
  lease: Lease,
  signal: AbortSignal,
): Promise<void> {
  const { note, turn, routine } = readTask(turnOfItsChat(claimed));
  const journal = openJournal(turn, lease, { turns: deps.store.turns, clock: deps.clock });
  const beating = { run, turn, journal };
  const ended = await (routine === undefined
    ? askedBeat(deps, { ...beating, note }, signal)
    : routineBeat(deps, beating, routine, signal));
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

/** A task with an instruction: the model answers, and the answer is judged. */
async function askedBeat(
  deps: BeatRunnerDeps,
  beating: Beating & { readonly note: HeartbeatNote },
  signal: AbortSignal,
): Promise<BeatTurn | Ending> {
  const answer = await answerOf(deps, beating, signal);
  return 'outcome' in answer ? answer : endOf(deps, beating, answer);
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

function taskSource(heartbeat: HeartbeatNote): ContextSource {
  return { id: 'heartbeat-task', gather: async () => ({ heartbeat }) };
}

async function endOf(deps: BeatRunnerDeps, beating: Beating, answer: Found): Promise<BeatTurn> {
  const { run, turn, journal } = beating;
  if ('words' in answer) {
    const { reason } = answer;
    return untold(deps, beating, { state: 'failed', reason, usage: journal.spent() });
  }
  const verdict = await verdictOf(deps.heartbeat.judge, answer.text, run);
  const { usage } = answer;
  if (verdict.state !== 'alerted') return untold(deps, beating, { ...verdict, usage });
  const { agent, clock } = deps;
  const account = accountOf(turnFacts(turn, agent, clock()), agent, clock);
  const base = { turnId: turn.turnId, entries: [], parts: [], account };
  const alert = await alertOf(turn, verdict);
  const commit = { ...base, outcome: 'answered' as const, usage };
  return { id: run.id, commit, state: 'alerted', reason: null, alert };
}

/** An alert of which nobody would see anything is none (H03). */
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
