import { agentOfConversation, type InboundMessage, type ReplyRoute } from '@parley/core';
import type { AdmittedMessage, CommandEffect, CommandResult, NewPart } from '@parley/store';
import type { IngressOutcome, SenderFacts } from '../adapter.ts';
import { mayAllow, ownersOfAgents } from './agent-route.ts';
import {
  type CommandAsker,
  type CommandDecision,
  changesChat,
  decideCommand,
  hasGroupRight,
  type TypedCommand,
} from './command.ts';
import { type CommandWords, leftOverText, messageAfter, splitCommand } from './command-words.ts';
import { personId, type SenderRights } from './decide.ts';
import { askService, type IngressDeps } from './ingress-deps.ts';
import { answerEffect, approvalEffect, modeEffect, modelEffect } from './modes-and-approvals.ts';
import { type CommandFacts, commandAnswer, declined, resendText, VOID_PRESS } from './notices.ts';
import { typedPairingCode } from './one-time-code.ts';
import { linkEffect, linkNews, welcomeParts } from './pairing.ts';
import { partsOf } from './route.ts';
import { answerWhy } from './why.ts';

/** Commands that depend on the right to change a group's conversation without being refused for it. */
const LIMITED: ReadonlySet<string> = new Set(['stop', 'resend', 'help']);

/** The rights of the sender of a command; the platform is asked only for commands that need it. */
export async function rankOf(
  { rules, log }: Pick<IngressDeps, 'rules' | 'log'>,
  {
    message,
    rights: { isOwner },
    sender,
  }: {
    readonly message: InboundMessage;
    readonly rights: SenderRights;
    readonly sender: SenderFacts;
  },
  command: TypedCommand,
): Promise<CommandAsker> {
  const isDirect = message.chat.type === 'direct';
  const isApprover = isOwner || rules.approvers?.includes(personId(message)) === true;
  const rank = { isOwner, isDirect, isApprover };
  const { groupCommands } = rules.policy.access;
  const isAsked = changesChat(command) || LIMITED.has(command.name);
  const mayChangeChat = !isAsked || (await hasGroupRight(groupCommands, rank, sender, log));
  return { ...rank, mayChangeChat };
}

/** What was done with a command; `isWaiting`: a message after it waits for a turn. */
export interface CommandRun {
  readonly outcome: IngressOutcome;
  readonly isWaiting: boolean;
}

/**
 * Runs a command without lane or model, so that it overtakes what waits (F09). Its effect, its answer and
 * its inbox row are one transaction. A message after it, as in `/new plan a picnic`, waits for a turn then, where the
 * conversation has room for it (`room`) and the command was run.
 */
export async function runCommand(
  deps: IngressDeps,
  admitted: AdmittedMessage,
  typed: TypedCommand,
  asker: CommandAsker,
  room = 0,
): Promise<CommandRun> {
  const { conversationId, route, message } = admitted;
  const words = splitCommand(typed);
  const command = { name: typed.name, argument: words.argument };
  // Without the right the table of commands declines; `/mode` alone asks for none.
  const decision = decideCommand(command.name, asker);
  const facts = await factsFor(deps, admitted, decision, command, asker);
  const effect = effectOf(deps, decision, words, admitted, asker);
  const after = messageAfter(message, typed, words);
  const onward = decision.kind === 'run' && after !== null ? { message: after, room } : null;
  const woken: ReplyRoute[] = [route];
  const result = await deps.store.inbox.command(
    withoutSecret(admitted, command),
    effect,
    (found) => {
      const text = [
        undecidedText(typed, words, found),
        answerOf(decision, command, facts, found),
        leftOverText(command, words, message),
        after !== null && found.onward !== 'waits' ? notTaken(command.name, found) : null,
      ].filter((part) => part !== null);
      const news = newsFor(found, admitted);
      woken.push(...news.map((part) => part.route));
      return [...partsOf(text.join('\n\n'), route), ...news];
    },
    onward,
  );
  deps.pass('inbox-committed');
  // A /stop that arrives twice must not stop what was asked after it.
  const isStop = decision.kind === 'run' && decision.name === 'stop';
  const stops = asker.mayChangeChat || result.stoppedTurn !== null;
  const lanes = isStop && stops && !result.duplicate ? [conversationId] : [];
  for (const lane of [...lanes, ...(result.stoppedSubAgents ?? [])]) {
    deps.bus.publish({ type: 'stop-turn', conversationId: lane });
  }
  for (const lane of lanesToWake(conversationId, result)) await deps.lanes.kick(lane);
  for (const each of woken) await deps.deliver(each);
  const isWaiting = result.onward === 'waits';
  const outcome: IngressOutcome = result.duplicate
    ? { kind: 'duplicate' }
    : outcomeOf(command, decision, facts, result);
  return { outcome, isWaiting };
}

/** Why words decided no approval: with more than a yes or a code, less may be meant than was asked. */
function undecidedText(
  { name, spoken }: TypedCommand,
  { argument, onward }: CommandWords,
  { approval }: CommandResult,
): string | null {
  if (name !== 'approve' || approval?.kind !== 'pending' || approval.approvals.length === 0) {
    return null;
  }
  if (spoken === 'only') {
    return 'Nothing is decided yet: a yes in words counts only directly after a single question. Press a button, or send one of these commands.';
  }
  if (spoken === 'kept') {
    return 'Nothing is decided yet: only a plain yes or no to me decides it, or one of these commands. I will answer your message after that.';
  }
  if (onward === '') return null;
  return `Nothing is decided yet, because there are words after the code: \`/approve ${argument}\` alone allows all of it. I will answer the words after that.`;
}

/** Of a message behind a command: why it is not answered. */
function notTaken(name: string, { onward }: CommandResult): string {
  const why = onward === 'full' ? 'too many messages wait already' : 'the command was not run';
  return `I did not take the message after /${name}: ${why}. Please send it again without the command.`;
}

function outcomeOf(
  { name }: TypedCommand,
  decision: CommandDecision,
  { groupCommands }: CommandFacts,
  { answer, approval, plan, resend, isVoidPress, onward }: CommandResult,
): IngressOutcome {
  if (isVoidPress === true) return { kind: 'command', name, declined: VOID_PRESS };
  if (decision.kind === 'decline') {
    return { kind: 'command', name, declined: declined(name, decision, groupCommands) };
  }
  if (resend === 'others') return { kind: 'command', name, declined: resendText(resend) };
  const isDecided = approval?.kind === 'decided' || approval?.kind === 'closed';
  const isAnswered = answer?.kind === 'answered' || answer?.kind === 'closed';
  const isSettled = isDecided || isAnswered || plan !== undefined || resend !== undefined;
  const continues = onward === 'waits' && { continues: true as const };
  return { kind: 'command', name, ...(isSettled ? { settled: true } : {}), ...continues };
}

/** Conversations with work now: a turn continues after its decision, or a plan is run. */
function lanesToWake(
  conversationId: string,
  { answer, plan, approval, onward }: CommandResult,
): readonly string[] {
  return [
    ...(plan === 'runs' || onward === 'waits' ? [conversationId] : []),
    ...(approval?.kind === 'decided' ? [approval.approval.conversationId] : []),
    ...(answer?.kind === 'answered' ? [conversationId] : []),
  ];
}

/** Messages that `/why` explains: what fits on a phone. */
const STORIES = 8;

/** The facts of the answer, each looked up only for the command that shows it. */
async function factsFor(
  deps: IngressDeps,
  admitted: AdmittedMessage,
  decision: CommandDecision,
  command: TypedCommand,
  asker: CommandAsker,
): Promise<CommandFacts> {
  const { store, skillCommands } = deps;
  const agent = agentOfConversation(admitted.conversationId);
  const services = deps.commandServices?.(agent) ?? {};
  const name = decision.kind === 'run' ? decision.name : undefined;
  // Every member reads an answer in a group.
  const audience = asker.isOwner && asker.isDirect ? 'owner' : 'others';
  return {
    message: admitted.message,
    argument: command.argument,
    situation: deps.situation(agent),
    asker,
    groupCommands: deps.rules.policy.access.groupCommands,
    audience,
    stories: name === 'why' ? await store.decisions.stories(admitted.route, STORIES, agent) : [],
    todos: name === 'status' ? await store.todos.now(admitted.conversationId) : [],
    serviceAnswer:
      name === 'why'
        ? await answerWhy(store.why, admitted, command, audience)
        : await askService(services, admitted, decision, command, audience),
    // What the agent does on its own is its owner's business.
    statusLine:
      name === 'status' && audience === 'owner' ? await services.statusLine?.() : undefined,
    skills: name === 'help' ? ((await skillCommands?.(audience, agent)) ?? []) : [],
    now: admitted.receivedAt,
  };
}

function answerOf(
  decision: CommandDecision,
  command: TypedCommand,
  facts: CommandFacts,
  found: CommandResult,
): string {
  if (found.isVoidPress === true) return VOID_PRESS;
  return decision.kind === 'run'
    ? commandAnswer(decision.name, facts, found)
    : declined(command.name, decision, facts.groupCommands);
}

/** Messages to other chats about a command's effect. */
function newsFor(
  { pairing, link }: CommandResult,
  { message, conversationId }: AdmittedMessage,
): readonly NewPart[] {
  const approved = pairing?.approved;
  const linked = linkNews(link, message, agentOfConversation(conversationId));
  return [...(approved ? welcomeParts(approved) : []), ...linked];
}

/** The key of a part of an answer, as the button below its notice has it. */
const PART_KEY = /^[\w-]{20,}$/;

function effectOf(
  { newCode, situation, rules }: Pick<IngressDeps, 'newCode' | 'situation' | 'rules'>,
  decision: CommandDecision,
  { argument, onward }: CommandWords,
  { conversationId, message }: AdmittedMessage,
  { isOwner, mayChangeChat }: CommandAsker,
): CommandEffect {
  if (decision.kind !== 'run') return { kind: 'none' };
  switch (decision.name) {
    case 'stop':
      return mayChangeChat ? { kind: 'stop' } : { kind: 'stop', senderId: message.sender.id };
    case 'resend': {
      // Its button names the part; words that a person writes do not.
      const key = PART_KEY.test(argument) ? argument : null;
      return { kind: 'resend', key, ...(mayChangeChat ? {} : { senderId: message.sender.id }) };
    }
    case 'mode':
    case 'run':
      return modeEffect(decision.name, argument);
    case 'model':
      return modelEffect(argument, situation(agentOfConversation(conversationId)).models);
    case 'status':
      return { kind: 'model', change: 'show' };
    case 'approve':
      return approvalEffect('approve', onward === '' ? argument : '', message);
    case 'deny':
      return approvalEffect('deny', argument, message);
    case 'answer':
      return answerEffect(argument, message);
    case 'new':
      return { kind: 'new-session' };
    case 'link':
      return linkEffect(
        message,
        argument,
        { isOwner, ownersOfAgents: ownersOfAgents(rules) },
        newCode(),
      );
    case 'pair':
      return {
        kind: 'pair',
        code: typedPairingCode(argument),
        isTheirs: (stranger) => mayAllow(rules, message, stranger),
      };
    default:
      return { kind: 'none' };
  }
}

/** The message as it is stored: `/forget` must not store the text that it deletes. */
function withoutSecret(admitted: AdmittedMessage, { name }: TypedCommand): AdmittedMessage {
  if (name !== 'forget') return admitted;
  const { replyTo: _replyTo, ...message } = admitted.message;
  return { ...admitted, message: { ...message, text: '/forget' } };
}
