import { homedir } from 'node:os';
import type { Clock, LiveBus, LiveEvent, Logger, Meter, PassPoint } from '@parley/contracts';
import { reasonOf } from '@parley/contracts';
import { render } from '@parley/markup';
import { type ChatModel, ModelError } from '@parley/models';
import { type AssembledPrompt, type PromptAssembler, readIdentity } from '@parley/prompt';
import type { RunTurn } from '@parley/queue';
import type {
  ClaimedTurn,
  Lease,
  NewPart,
  Store,
  TranscriptEntry,
  TurnCommit,
} from '@parley/store';
import { readerOf, type Workspace } from '@parley/workspace';
import { askModel } from './ask-model.ts';
import { answeredBefore, type FinalStep } from './final-step.ts';
import { type HistoryLimits, modelMessages, spoken, textOf } from './history.ts';
import { type AgentPlace, leadingMessage, turnFacts } from './turn-facts.ts';

/** Everything a turn works with; built once per worker. */
export interface TurnRunnerDeps {
  readonly store: Pick<Store, 'lanes' | 'turns' | 'transcript'>;
  readonly model: ChatModel;
  readonly prompt: PromptAssembler;
  readonly workspace: Workspace;
  readonly agent: AgentPlace;
  readonly owners: readonly string[];
  readonly history: HistoryLimits;
  /** Wakes the delivery of a chat. */
  readonly deliver: (channel: string, account: string, chatId: string) => Promise<void>;
  readonly bus: LiveBus;
  readonly log: Logger;
  readonly meter: Meter;
  readonly clock: Clock;
  readonly pass: PassPoint;
}

/** A turn that was begun this often and never ended probably kills its worker: give up and say so. */
const MAX_ATTEMPTS = 5;

type Outcome = Extract<LiveEvent, { type: 'turn-ended' }>['outcome'];

/** Makes the function that runs one turn: prompt, model, journal, commit, delivery. */
export function createTurnRunner(deps: TurnRunnerDeps): RunTurn {
  return async (turn, lease, signal) => {
    const { turnId, conversationId } = turn;
    const { route, receivedAt } = leadingMessage(turn);
    const startedAt = deps.clock();
    deps.meter.observe('parley_inbox_wait_seconds', startedAt - receivedAt);
    deps.bus.publish({ type: 'turn-started', conversationId, turnId, route });
    let outcome: Outcome = 'fenced';
    try {
      outcome = await answerTurn(deps, turn, lease, signal);
    } finally {
      deps.bus.publish({ type: 'turn-ended', conversationId, turnId, outcome });
      deps.meter.observe('parley_turn_seconds', deps.clock() - startedAt, { outcome });
    }
    deps.log.info(
      { conversation: conversationId, turn: turnId, outcome, ms: deps.clock() - startedAt },
      'turn',
    );
    if (outcome === 'answered' || outcome === 'failed') {
      await deps.deliver(route.channel, route.account, route.chatId);
    }
  };
}

async function answerTurn(
  deps: TurnRunnerDeps,
  turn: ClaimedTurn,
  lease: Lease,
  signal: AbortSignal,
): Promise<Outcome> {
  const asked = spoken('user', textOf(turn.messages));
  if (turn.attempts >= MAX_ATTEMPTS) {
    return fail(
      deps,
      turn,
      lease,
      asked,
      `I tried to answer this ${turn.attempts} times and was cut off each time.`,
    );
  }
  try {
    const answer = answeredBefore(turn.steps) ?? (await ask(deps, turn, lease, signal));
    if (answer === null) return 'fenced';
    return await commit(deps, lease, {
      turnId: turn.turnId,
      outcome: 'answered',
      entries: [asked, spoken('assistant', answer.text)],
      parts: partsOf(turn, answer.text),
      usage: answer.usage,
    });
  } catch (error) {
    // The turn stays unfinished: after a stop it is closed already, else another run goes on with it.
    if (signal.aborted) return signal.reason === 'stopped' ? 'stopped' : 'fenced';
    if (!(error instanceof ModelError)) throw error;
    deps.log.warn(
      { turn: turn.turnId, code: error.code, reason: reasonOf(error) },
      'the model gave no answer',
    );
    return fail(deps, turn, lease, asked, error.message);
  }
}

/** Asks the model and journals its answer; null when the lease was lost meanwhile. */
async function ask(
  deps: TurnRunnerDeps,
  turn: ClaimedTurn,
  lease: Lease,
  signal: AbortSignal,
): Promise<FinalStep | null> {
  const { conversationId, turnId } = turn;
  const [prompt, transcript] = await Promise.all([
    promptOf(deps, turn),
    deps.store.transcript.recent(conversationId, turn.session, deps.history.entries),
  ]);
  const context = prompt.userContext.map((part) => part.text);
  const now = [...context, textOf(turn.messages)].join('\n\n');
  const messages = modelMessages(transcript, now, deps.history);
  deps.pass('model-called');
  const onText = (text: string): void =>
    deps.bus.publish({ type: 'turn-delta', conversationId, turnId, text });
  const answer = await askModel(
    deps.model,
    { system: prompt.system, messages },
    { ...deps, onText },
    signal,
  );
  const journalled = await deps.store.turns.appendStep(
    lease,
    turnId,
    { index: turn.steps.length, content: answer },
    deps.clock(),
  );
  return journalled === 'committed' ? answer : null;
}

async function promptOf(deps: TurnRunnerDeps, turn: ClaimedTurn): Promise<AssembledPrompt> {
  const facts = turnFacts(turn, deps.agent, deps.clock());
  const reader = readerOf(facts, deps.owners, turn.conversationId);
  const view = deps.workspace.for(reader);
  const identity = await readIdentity(view, { agent: deps.agent.identity });
  return deps.prompt.assemble({
    facts: { ...facts, agent: { id: deps.agent.id, name: identity.name } },
    reader,
    view,
    identity,
    messages: turn.messages.map(({ message }) => message),
    target: leadingMessage(turn).route.target,
    home: homedir(),
  });
}

async function fail(
  deps: TurnRunnerDeps,
  turn: ClaimedTurn,
  lease: Lease,
  asked: TranscriptEntry,
  reason: string,
): Promise<Outcome> {
  const parts = partsOf(turn, `⚙️ ${reason}`);
  return commit(deps, lease, {
    turnId: turn.turnId,
    outcome: 'failed',
    reason,
    entries: [asked],
    parts,
    usage: null,
  });
}

async function commit(deps: TurnRunnerDeps, lease: Lease, turn: TurnCommit): Promise<Outcome> {
  const result = await deps.store.lanes.commit(lease, turn, deps.clock());
  if (result === 'fenced') return 'fenced';
  deps.pass('turn-committed');
  return turn.outcome;
}

function partsOf(turn: ClaimedTurn, markdown: string): NewPart[] {
  const { route } = leadingMessage(turn);
  return render(markdown, route.target).map((body) => ({ route, body }));
}
