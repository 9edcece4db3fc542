import type { ContextSource } from '@parley/prompt';
import type { RunTurn } from '@parley/queue';
import {
  type ClaimedTurn,
  type Lease,
  type Store,
  SUB_AGENT_LANE,
  type SubAgentRun,
  type TurnCommit,
} from '@parley/store';
import { cutText } from '@parley/workspace';
import { visibleText } from '../answer/visible-text.ts';
import { GAVE_UP } from '../end-turn.ts';
import { spoken, textOf } from '../history.ts';
import { audienceOf } from '../loop/call-tools.ts';
import { type FinalStep, openJournal, type TurnJournal } from '../loop/turn-journal.ts';
import { DEFAULT_TURN_LIMITS } from '../loop/turn-loop.ts';
import { unseenMedia } from '../media/turn-media.ts';
import { accountOf } from '../spend.ts';
import type { SeenTurn } from '../turn-answer.ts';
import { turnFacts } from '../turn-opening.ts';
import { answerOrWhy, MAX_ATTEMPTS, type TurnRunnerDeps } from '../turn-runner.ts';
import { leftFor } from './sub-agent-limits.ts';
import { mute, openSubAgentTurn, turnOfItsChat } from './sub-agent-opening.ts';
import { subAgentTools } from './sub-agent-tools.ts';
import { completionWords, RESULT_CHARACTERS, type SubAgentEnd } from './sub-agent-words.ts';

/** What running sub-agents needs besides what every turn does. */
export interface SubAgentRunnerDeps extends TurnRunnerDeps {
  readonly store: TurnRunnerDeps['store'] & Pick<Store, 'subAgents'>;
  /** Wakes a lane. */
  readonly wake: (conversationId: string) => Promise<void>;
}

/**
 * Runs the turns of sub-agents itself (G07) and leaves all others to `runTurn`. A sub-agent is a lane
 * like every other, so leases, journals and sweeps serve it, too; but nothing is shown or sent from it.
 */
export function withSubAgents(deps: SubAgentRunnerDeps, runTurn: RunTurn): RunTurn {
  return async (turn, lease, signal) => {
    if (!turn.conversationId.startsWith(SUB_AGENT_LANE)) return runTurn(turn, lease, signal);
    const run = await deps.store.subAgents.of(turn.conversationId);
    if (run === null) throw new Error(`The lane ${turn.conversationId} has no sub-agent.`);
    await runSubAgent(deps, run, turn, lease, signal);
  };
}

async function runSubAgent(
  deps: SubAgentRunnerDeps,
  run: SubAgentRun,
  claimed: ClaimedTurn,
  lease: Lease,
  signal: AbortSignal,
): Promise<void> {
  const startedAt = deps.clock();
  const turn = turnOfItsChat(claimed);
  const { clock, agent } = deps;
  const account = () => accountOf(turnFacts(turn, agent, clock()), agent, clock);
  const journal = openJournal(turn, lease, { turns: deps.store.turns, clock, account });
  const answer = await answerOf(deps, run, { turn, journal }, signal);
  const facts = { conversation: turn.conversationId, turn: turn.turnId, for: run.rootConversation };
  if ('outcome' in answer) {
    deps.log.info({ ...facts, outcome: answer.outcome }, 'turn of a sub-agent');
    return;
  }
  const end = endOf(answer);
  const committed = await deps.store.subAgents.commit(
    lease,
    {
      commit: commitOf(deps, turn, answer, journal),
      steps: journal.rounds().length + 1,
      state: end.kind,
      result: end.kind === 'done' ? end.result : end.reason,
      words: completionWords(run.title, end),
    },
    deps.clock(),
  );
  const ms = deps.clock() - startedAt;
  deps.log.info({ ...facts, ms, outcome: end.kind, run: committed.kind }, 'turn of a sub-agent');
  if (committed.kind === 'fenced') return;
  deps.pass('turn-committed');
  if (committed.kind === 'over') await deps.wake(committed.wake);
}

type Answer = Awaited<ReturnType<typeof answerOrWhy>>;
type Found = Exclude<Answer, { outcome: unknown }>;

async function answerOf(
  deps: SubAgentRunnerDeps,
  run: SubAgentRun,
  { turn, journal }: Pick<SeenTurn, 'turn' | 'journal'>,
  signal: AbortSignal,
): Promise<Answer> {
  if (turn.attempts >= MAX_ATTEMPTS) {
    return { words: GAVE_UP, reason: `begun ${turn.attempts} times` };
  }
  const media = unseenMedia();
  const opened = await openSubAgentTurn(turn, run, textOf(turn.messages, media.forModel), deps);
  const { tools } = deps;
  const limits = { ...DEFAULT_TURN_LIMITS, ...deps.limits };
  const { hooks: _hooks, ...shared } = deps;
  const own: TurnRunnerDeps = {
    ...shared,
    promptMode: 'minimal',
    sources: [...deps.sources, taskSource(run)],
    limits: leftFor(run, limits, deps.clock()),
    bus: mute(deps.bus),
    ...(tools !== undefined && { tools: subAgentTools(tools, run) }),
  };
  return answerOrWhy(own, { turn, media, opened, journal }, signal);
}

/** The task stands last in the prompt (P13), for the one who asked for it. */
function taskSource({ task }: SubAgentRun): ContextSource {
  return {
    id: 'sub-agent-task',
    async gather({ reader }) {
      const audience = audienceOf(reader);
      return { ephemeral: { text: `## Your task\n\n${task}`, source: 'sub-agent', audience } };
    },
  };
}

function endOf(answer: Found): SubAgentEnd {
  if ('words' in answer) return { kind: 'failed', reason: answer.words };
  const seen = visibleText(answer.text, { known: new Set() });
  const text = seen.kind === 'says' ? seen.text : 'It found nothing to say.';
  return { kind: 'done', result: cutText(text, RESULT_CHARACTERS, 'the result').text };
}

/** Its own history: what it was told and what it made of it. */
function commitOf(
  { agent, clock }: SubAgentRunnerDeps,
  turn: ClaimedTurn,
  answer: Found,
  journal: TurnJournal,
): TurnCommit {
  const asked = spoken('user', textOf(turn.messages, unseenMedia().forHistory));
  const account = accountOf(turnFacts(turn, agent, clock()), agent, clock);
  const base = { turnId: turn.turnId, parts: [], account };
  if ('words' in answer) {
    const { reason } = answer;
    return { ...base, outcome: 'failed', reason, entries: [asked], usage: journal.spent() };
  }
  const { text, usage }: FinalStep = answer;
  return { ...base, outcome: 'answered', entries: [asked, spoken('assistant', text)], usage };
}
