import { getConversationAgent, type InboundMessage, resolveBusyMode } from '@parley/core';
import type { AdmittedMessage, CommandTransaction, NewPart } from '@parley/store';
import type { IngressOutcome } from '../adapter.ts';
import type { IngressDecision } from '../ingress/decide.ts';
import type { IdentifiedMessage } from '../ingress/identify.ts';
import type { IngressDeps } from '../ingress/ingress-deps.ts';
import type { BacklogLimit } from '../ingress/limits.ts';
import { renderNoticeParts } from '../ingress/route.ts';
import type {
  ChatCommand,
  CommandAnswer,
  CommandContext,
  CommandTextParts,
  ImmediateCommand,
  TypedCommand,
} from './command.ts';
import { CHAT_COMMANDS } from './list.ts';
import { describeRefusal, findRefusal, resolveCommandSender } from './permission.ts';
import { describeUnusedInput, splitCommand, toFollowingMessage } from './typed-command.ts';

/**
 * Runs a command without acquiring the lane or calling the model, so that it overtakes waiting
 * messages (F09). The command's effect, answer and inbox row are stored in one transaction. A
 * message after the command, as in `/new plan a picnic`, then waits for a turn, if the command was
 * run and the conversation may hold one more message. `in-turn`: the command will run as a turn, so
 * nothing was done yet.
 */
export async function runCommand(
  deps: IngressDeps,
  identified: IdentifiedMessage,
  { command: typed, isOwner }: Extract<IngressDecision, { kind: 'command' }>,
  backlog: BacklogLimit,
): Promise<IngressOutcome | 'in-turn'> {
  const { admitted, rights, rules, facts } = identified;
  const { message } = admitted;
  const { command } = typed;
  const who = { person: rights.person, isOwner, isDirect: message.chat.type === 'direct' };
  const asker = await resolveCommandSender(rules, who, typed, facts, deps.log);
  const words = splitCommand(typed);
  const after = toFollowingMessage(message, typed, words);
  const work = { typed, words, isOwner, after };
  const refusal = findRefusal(command, asker);
  if (refusal !== null) {
    const answer = describeRefusal(command, refusal, rules.policy.access.groupCommands);
    const run = async () => ({ answer, declined: answer });
    return completeCommand(deps, identified, { ...work, onward: null, run }, backlog);
  }
  if ('inTurn' in command) return 'in-turn';
  const run = await prepareCommand(deps, identified, typed, command, { ...words, asker });
  return completeCommand(deps, identified, { ...work, onward: after, run }, backlog);
}

interface CommandWork {
  readonly typed: TypedCommand;
  readonly words: CommandTextParts;
  readonly isOwner: boolean;
  /** The message after the command; null when there is none. */
  readonly after: InboundMessage | null;
  /** The message after the command, provided that it may wait for a turn. */
  readonly onward: InboundMessage | null;
  run(transaction: CommandTransaction): Promise<CommandAnswer>;
}

type CompletedCommand = CommandAnswer & { readonly isWaiting: boolean };

/** Gathers the data that a command needs before its transaction. */
async function prepareCommand(
  deps: IngressDeps,
  { admitted, rules }: IdentifiedMessage,
  { spoken }: TypedCommand,
  command: ImmediateCommand,
  { argument, onward, asker }: Pick<CommandContext, 'argument' | 'onward' | 'asker'>,
): Promise<CommandWork['run']> {
  const { message, conversationId, route, receivedAt } = admitted;
  const { store, newCode, skillCommands, commands = CHAT_COMMANDS } = deps;
  const agent = getConversationAgent(conversationId);
  const context: CommandContext = {
    ...{ message, conversationId, route, receivedAt, argument, onward, agent, asker, rules },
    ...(spoken && { spoken }),
    // In a group, every member reads the answer.
    audience: asker.isOwner && asker.isDirect ? 'owner' : 'others',
    situation: deps.situation(agent),
    commands,
  };
  const services = deps.commandServices?.(agent) ?? {};
  const prepared = await command.prepare?.(context, { store, services, skillCommands, newCode });
  return (transaction) => command.run(context, transaction, prepared);
}

async function completeCommand(
  deps: IngressDeps,
  identified: IdentifiedMessage,
  work: CommandWork,
  backlog: BacklogLimit,
): Promise<IngressOutcome> {
  const { admitted } = identified;
  const done =
    work.onward === null
      ? await storeAndRunCommand(deps, admitted, work, 0)
      : await runWithinBacklog(deps, identified, work, backlog);
  deps.checkpoint('inbox-committed');
  await followUpCommand(deps, admitted, done);
  return toCommandOutcome(work.typed.command.name, done);
}

/** A message after the command counts towards the limits like any waiting message. */
async function runWithinBacklog(
  deps: IngressDeps,
  { admitted, rights, rules }: IdentifiedMessage,
  work: CommandWork,
  backlog: BacklogLimit,
): Promise<CompletedCommand | null> {
  const from = { person: rights.person, isOwner: work.isOwner };
  const room = await backlog.reserve(from);
  let done: CompletedCommand | null = null;
  try {
    const most = room === 'room' ? rules.limits.waitingPerConversation : 0;
    done = await storeAndRunCommand(deps, admitted, work, most);
    return done;
  } finally {
    if (room === 'room') backlog.release(from, done?.isWaiting === true);
  }
}

/**
 * Stores a command, runs it and stores its answer; null when its message is a duplicate. `room`
 * limits the message after the command.
 */
async function storeAndRunCommand(
  { store }: IngressDeps,
  admitted: AdmittedMessage,
  { typed: { command }, words, after, onward, run }: CommandWork,
  room: number,
): Promise<CompletedCommand | null> {
  const { message, route } = admitted;
  return store.inbox.command(
    toStoredMessage(admitted, command, onward !== null),
    async (transaction): Promise<CompletedCommand> => {
      const isVoid = !(await transaction.pressCounts());
      const done = isVoid ? { answer: VOID_PRESS, declined: VOID_PRESS } : await run(transaction);
      const taken =
        isVoid || onward === null ? 'not-run' : await transaction.continueWith(onward, room);
      const text = [
        done.answer,
        describeUnusedInput(command, words, message),
        after === null || taken === 'waits' ? null : explainUnansweredMessage(command.name, taken),
      ].filter((part) => part !== null);
      const parts = renderNoticeParts(text.join('\n\n'), route);
      transaction.answer(...addButtons(parts, done.buttons), ...(done.notify ?? []));
      return { ...done, isWaiting: taken === 'waits' };
    },
  );
}

function addButtons(parts: readonly NewPart[], buttons: CommandAnswer['buttons'] = []) {
  if (buttons.length === 0) return parts;
  return parts.map((part, at) =>
    at === parts.length - 1 ? { ...part, buttons: [...buttons] } : part,
  );
}

/**
 * The answer to a button press below a message that never offered the button, or no longer does.
 */
const VOID_PRESS =
  'That button does nothing, because its message is not as I sent it. If I asked for an approval, `/approve` shows what is waiting, in full.';

function explainUnansweredMessage(name: string, taken: 'full' | 'not-run'): string {
  const why =
    taken === 'full' ? 'too many messages are waiting already' : 'the command was not run';
  return `I did not take the message after /${name}: ${why}. Please send it again without the command.`;
}

/**
 * The message to store; its files are kept only if they belong to the message after the command.
 */
function toStoredMessage(
  { files, ...admitted }: AdmittedMessage,
  command: ChatCommand,
  hasMessage: boolean,
): AdmittedMessage {
  const message = command.storedAs?.(admitted.message) ?? admitted.message;
  return { ...admitted, message, ...(hasMessage && files && { files }) };
}

/**
 * For a duplicate, only the delivery is woken, so a redelivered `/stop` does not stop a newer turn.
 */
async function followUpCommand(
  { bus, lanes, deliver, rules }: IngressDeps,
  { conversationId, message, route }: AdmittedMessage,
  done: CompletedCommand | null,
): Promise<void> {
  const { stop = [], wake = [], notify = [], isWaiting = false } = done ?? {};
  for (const lane of stop) bus.publish({ type: 'stop-turn', conversationId: lane });
  for (const lane of isWaiting ? [conversationId, ...wake] : wake) await lanes.wake(lane);
  for (const to of [route, ...notify.map((part) => part.route)]) await deliver(to);
  if (isWaiting && resolveBusyMode(rules.busy ?? 'collect', message) === 'interrupt') {
    bus.publish({ type: 'message-waiting', conversationId });
  }
}

function toCommandOutcome(name: string, done: CompletedCommand | null): IngressOutcome {
  if (done === null) return { kind: 'duplicate' };
  const { declined, settled, isWaiting } = done;
  if (declined !== undefined) return { kind: 'command', name, declined };
  return {
    kind: 'command',
    name,
    ...(settled && { settled }),
    ...(isWaiting && { continues: true }),
  };
}
