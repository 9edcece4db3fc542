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
import { personId, type SenderRights } from './decide.ts';
import { askService, type IngressDeps } from './ingress-deps.ts';
import { answerEffect, approvalEffect, modeEffect, modelEffect } from './modes-and-approvals.ts';
import { type CommandFacts, commandAnswer, declined, resendText, VOID_PRESS } from './notices.ts';
import { linkEffect, linkNews, typedPairingCode, welcomeParts } from './pairing.ts';
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

/**
 * Runs a command without lane or model, so that it overtakes what waits (F09). Its effect, its answer and
 * its inbox row are one transaction.
 */
export async function runCommand(
  deps: IngressDeps,
  admitted: AdmittedMessage,
  command: TypedCommand,
  asker: CommandAsker,
): Promise<IngressOutcome> {
  const { conversationId, route } = admitted;
  // Without the right the table of commands declines; `/mode` alone asks for none.
  const decision = decideCommand(command.name, asker);
  const facts = await factsFor(deps, admitted, decision, command, asker);
  const effect = effectOf(deps, decision, command, admitted, asker);
  const woken: ReplyRoute[] = [route];
  const result = await deps.store.inbox.command(
    withoutSecret(admitted, command),
    effect,
    (found) => {
      const answer = partsOf(answerOf(decision, command, facts, found), route);
      const news = newsFor(found, admitted);
      woken.push(...news.map((part) => part.route));
      return [...answer, ...news];
    },
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
  return result.duplicate ? { kind: 'duplicate' } : outcomeOf(command, decision, facts, result);
}

function outcomeOf(
  { name }: TypedCommand,
  decision: CommandDecision,
  { groupCommands }: CommandFacts,
  { answer, approval, plan, resend, isVoidPress }: CommandResult,
): IngressOutcome {
  if (isVoidPress === true) return { kind: 'command', name, declined: VOID_PRESS };
  if (decision.kind === 'decline') {
    return { kind: 'command', name, declined: declined(name, decision, groupCommands) };
  }
  if (resend === 'others') return { kind: 'command', name, declined: resendText(resend) };
  const isDecided = approval?.kind === 'decided' || approval?.kind === 'closed';
  const isAnswered = answer?.kind === 'answered' || answer?.kind === 'closed';
  const isSettled = isDecided || isAnswered || plan !== undefined || resend !== undefined;
  return { kind: 'command', name, ...(isSettled ? { settled: true } : {}) };
}

/** Conversations with work now: a turn continues after its decision, or a plan is run. */
function lanesToWake(
  conversationId: string,
  { answer, plan, approval }: CommandResult,
): readonly string[] {
  return [
    ...(plan === 'runs' ? [conversationId] : []),
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

function effectOf(
  { newCode, situation, rules }: Pick<IngressDeps, 'newCode' | 'situation' | 'rules'>,
  decision: CommandDecision,
  { argument }: TypedCommand,
  { conversationId, message }: AdmittedMessage,
  { isOwner, mayChangeChat }: CommandAsker,
): CommandEffect {
  if (decision.kind !== 'run') return { kind: 'none' };
  switch (decision.name) {
    case 'stop':
      return mayChangeChat ? { kind: 'stop' } : { kind: 'stop', senderId: message.sender.id };
    case 'resend': {
      const key = argument === '' ? null : argument;
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
    case 'deny':
      return approvalEffect(decision.name, argument, message);
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
