import type { LiveBus, PassPoint, ReplyRoute } from '@parley/contracts';
import type {
  AdmittedMessage,
  CommandEffect,
  CommandResult,
  DecisionRepository,
  InboxRepository,
} from '@parley/store';
import { type CommandDecision, decideCommand, type TypedCommand } from './command.ts';
import { type CommandFacts, commandAnswer, declined, type Situation } from './notices.ts';
import { typedCode } from './one-time-code.ts';
import type { IngressOutcome } from './outcome.ts';
import { welcomeParts } from './pair.ts';
import { partsOf } from './parts-of.ts';
import type { Standing } from './standing.ts';

/** What commands work with. */
export interface CommandDeps {
  readonly store: {
    readonly inbox: Pick<InboxRepository, 'command'>;
    readonly decisions: Pick<DecisionRepository, 'stories'>;
  };
  /** Wakes the delivery of a chat. */
  readonly deliver: (route: ReplyRoute) => Promise<void>;
  readonly bus: LiveBus;
  readonly situation: () => Situation;
  readonly pass: PassPoint;
}

/**
 * Carries a command out without lane or model, so that it overtakes what waits (F09). Its effect,
 * its answer and the proof that it was taken are one transaction.
 */
export async function carryOut(
  deps: CommandDeps,
  admitted: AdmittedMessage,
  command: TypedCommand,
  standing: Standing,
): Promise<IngressOutcome> {
  const { conversationId, message, route } = admitted;
  const isDirect = message.chat.type === 'direct';
  const decision = decideCommand(command.name, { isOwner: standing.isOwner, isDirect });
  const facts: CommandFacts = {
    message,
    argument: command.argument,
    situation: deps.situation(),
    // What a group reads is read by all of it.
    audience: standing.isOwner && isDirect ? 'owner' : 'others',
    stories: await storiesFor(deps, decision, route),
    now: admitted.receivedAt,
  };
  const woken: ReplyRoute[] = [route];
  const result = await deps.store.inbox.command(admitted, effectOf(decision, command), (found) => {
    const answer = partsOf(answerOf(decision, command, facts, found), route);
    const news = newsFor(found);
    woken.push(...news.map((part) => part.route));
    return [...answer, ...news];
  });
  deps.pass('inbox-committed');
  // A /stop that is told twice must not stop what was asked after it.
  const isStop = decision.kind === 'run' && decision.name === 'stop';
  if (isStop && !result.duplicate) deps.bus.publish({ type: 'stop-turn', conversationId });
  for (const each of woken) await deps.deliver(each);
  return result.duplicate ? { kind: 'duplicate' } : { kind: 'command', name: command.name };
}

/** How many messages `/why` tells of: what fits on a telephone. */
const STORIES = 8;

async function storiesFor(deps: CommandDeps, decision: CommandDecision, route: ReplyRoute) {
  const isWhy = decision.kind === 'run' && decision.name === 'why';
  return isWhy ? deps.store.decisions.stories(route, STORIES) : [];
}

function answerOf(
  decision: CommandDecision,
  command: TypedCommand,
  facts: CommandFacts,
  found: CommandResult,
): string {
  return decision.kind === 'run'
    ? commandAnswer(decision.name, facts, found)
    : declined(command.name, decision);
}

/** What people elsewhere must be told of a command's effect. */
function newsFor({ pairing }: CommandResult) {
  const approved = pairing?.approved;
  return approved ? welcomeParts(approved) : [];
}

function effectOf(decision: CommandDecision, { argument }: TypedCommand): CommandEffect {
  if (decision.kind !== 'run') return { kind: 'none' };
  switch (decision.name) {
    case 'stop':
      return { kind: 'stop' };
    case 'new':
      return { kind: 'new-session' };
    case 'pair':
      return { kind: 'pair', code: typedCode(argument) };
    default:
      return { kind: 'none' };
  }
}
