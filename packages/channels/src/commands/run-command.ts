import { agentOfConversation, busyIn } from '@parley/core';
import type { AdmittedMessage, CommandTransaction } from '@parley/store';
import type { IngressOutcome } from '../adapter.ts';
import type { IngressDeps } from '../ingress/ingress-deps.ts';
import type { BacklogLimit } from '../ingress/limits.ts';
import { partsOf } from '../ingress/route.ts';
import type { Asked, CommandAnswer, CommandAsker, CommandWords, TypedCommand } from './command.ts';
import { CHAT_COMMANDS } from './list.ts';
import { refusalOf, refusalText } from './permission.ts';
import { leftOverText, messageAfter, splitCommand } from './typed-command.ts';

/** The answer to a press below a message that is not, or no longer, the one that offered it. */
const VOID_PRESS =
  'That button does nothing: its message is not as I sent it. If I asked for an approval, `/approve` shows what waits, in full.';

/** A message that is a command, and who sent it. */
export interface CommandMessage {
  readonly admitted: AdmittedMessage;
  readonly typed: TypedCommand;
  readonly asker: CommandAsker;
  /** Whose share of the waiting messages a message after the command takes. */
  readonly holder: string;
}

/**
 * Runs a command without lane or model, so that it overtakes what waits (F09). Its effect, its answer and its inbox row
 * are one transaction. A message after it, as in `/new plan a picnic`, waits for a turn then, where the conversation has
 * room for it and the command was run.
 */
export async function runCommand(
  deps: IngressDeps,
  { admitted, typed, asker, holder }: CommandMessage,
  backlog: BacklogLimit,
): Promise<IngressOutcome> {
  const { message } = admitted;
  const words = splitCommand(typed);
  const { isRefused, run } = await prepareRun(deps, admitted, typed, words, asker);
  const after = messageAfter(message, typed, words);
  const onward = isRefused ? null : after;
  const from = { person: holder, isOwner: asker.isOwner };
  const room = onward === null ? 'none' : await backlog.reserve(from);
  let isWaiting = false;
  try {
    const most = room === 'room' ? deps.rules.limits.waitingPerConversation : 0;
    const done = await deps.store.inbox.command(
      storedMessage(admitted, typed, onward !== null),
      async (transaction) => {
        const isVoid = !(await transaction.pressCounts());
        const ran = isVoid ? { answer: VOID_PRESS, declined: VOID_PRESS } : await run(transaction);
        const taken =
          onward === null || isVoid ? 'not-run' : await transaction.continueWith(onward, most);
        const text = [
          ran.answer,
          leftOverText(typed.command, words, message),
          after === null || taken === 'waits' ? null : notTaken(typed.command.name, taken),
        ].filter((part) => part !== null);
        transaction.answer(...partsOf(text.join('\n\n'), admitted.route), ...(ran.notify ?? []));
        return { ...ran, isWaiting: taken === 'waits' };
      },
    );
    isWaiting = done?.isWaiting === true;
    deps.pass('inbox-committed');
    await followUp(deps, admitted, done);
    return outcomeOf(typed, done);
  } finally {
    if (room === 'room') backlog.release(from, isWaiting);
  }
}

interface Run {
  readonly isRefused: boolean;
  run(transaction: CommandTransaction): Promise<CommandAnswer>;
}

/** Asks all that a command needs before its transaction; a refused one asks nothing and answers why. */
async function prepareRun(
  deps: IngressDeps,
  { message, conversationId, route, receivedAt }: AdmittedMessage,
  { command, spoken }: TypedCommand,
  { argument, onward }: CommandWords,
  asker: CommandAsker,
): Promise<Run> {
  const { rules, store, newCode, skillCommands, commands = CHAT_COMMANDS } = deps;
  const why = refusalOf(command, asker);
  if (why !== null) {
    const answer = refusalText(command, why, rules.policy.access.groupCommands);
    return { isRefused: true, run: async () => ({ answer, declined: answer }) };
  }
  if ('inTurn' in command) throw new Error(`The command /${command.name} runs as a turn.`);
  const agent = agentOfConversation(conversationId);
  const asked: Asked = {
    ...{ message, conversationId, route, receivedAt, argument, onward, agent, asker, rules },
    ...(spoken && { spoken }),
    // Every member reads an answer in a group.
    audience: asker.isOwner && asker.isDirect ? 'owner' : 'others',
    situation: deps.situation(agent),
    commands,
  };
  const services = deps.commandServices?.(agent) ?? {};
  const prepared = await command.prepare?.(asked, { store, services, skillCommands, newCode });
  return { isRefused: false, run: (transaction) => command.run(asked, transaction, prepared) };
}

/** What is stored of a command; files only where they belong to a message after it. */
function storedMessage(
  { files, ...admitted }: AdmittedMessage,
  { command }: TypedCommand,
  hasMessage: boolean,
): AdmittedMessage {
  const message = command.storedAs?.(admitted.message) ?? admitted.message;
  return { ...admitted, message, ...(hasMessage && files && { files }) };
}

type Done = CommandAnswer & { readonly isWaiting: boolean };

/** What follows a stored command. A duplicate only wakes the delivery: a `/stop` that arrives twice stops nothing new. */
async function followUp(
  { bus, lanes, deliver, rules }: IngressDeps,
  { conversationId, message, route }: AdmittedMessage,
  done: Done | null,
): Promise<void> {
  const { stop = [], wake = [], notify = [], isWaiting = false } = done ?? {};
  for (const lane of stop) bus.publish({ type: 'stop-turn', conversationId: lane });
  for (const lane of isWaiting ? [conversationId, ...wake] : wake) await lanes.kick(lane);
  for (const to of [route, ...notify.map((part) => part.route)]) await deliver(to);
  if (isWaiting && busyIn(rules.busy ?? 'collect', message) === 'interrupt') {
    bus.publish({ type: 'message-waiting', conversationId });
  }
}

/** Of a message behind a command: why it is not answered. */
function notTaken(name: string, taken: 'full' | 'not-run'): string {
  const why = taken === 'full' ? 'too many messages wait already' : 'the command was not run';
  return `I did not take the message after /${name}: ${why}. Please send it again without the command.`;
}

function outcomeOf({ command: { name } }: TypedCommand, done: Done | null): IngressOutcome {
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
