import type { InboundMessage, LiveBus, Logger, PassPoint, ReplyRoute } from '@parley/contracts';
import type { WakeUpQueue } from '@parley/queue';
import type {
  AdmittedMessage,
  CommandEffect,
  CommandResult,
  DecisionRepository,
  InboxRepository,
  NewPart,
  TodoRepository,
  WhyRepository,
} from '@parley/store';
import type { IngressOutcome, SenderFacts } from '../adapter.ts';
import {
  type CommandAsker,
  type CommandDecision,
  changesChat,
  decideCommand,
  hasGroupRight,
  type SkillCommands,
  type TypedCommand,
} from './command.ts';
import { type DecisionRules, personId, type Standing } from './decide.ts';
import { askDesk, type Desks } from './desk.ts';
import { approvalEffect, modeEffect } from './modes-and-approvals.ts';
import {
  type CommandFacts,
  commandAnswer,
  declined,
  resendText,
  type Situation,
} from './notices.ts';
import { linkEffect, linkNews, typedCode, welcomeParts } from './pairing.ts';
import { partsOf } from './route.ts';

/** What commands work with. */
export interface CommandDeps {
  readonly store: {
    readonly inbox: Pick<InboxRepository, 'command'>;
    readonly decisions: Pick<DecisionRepository, 'stories'>;
    readonly why: WhyRepository;
    readonly todos: Pick<TodoRepository, 'now'>;
  };
  /** Wakes the delivery of a chat. */
  readonly deliver: (route: ReplyRoute) => Promise<void>;
  readonly lanes: Pick<WakeUpQueue, 'kick'>;
  readonly rules: Pick<DecisionRules, 'approvers' | 'policy'>;
  readonly bus: LiveBus;
  readonly situation: () => Situation;
  readonly skillCommands?: SkillCommands | undefined;
  readonly desks?: Desks | undefined;
  /** A fresh one-time code, unguessable. */
  readonly newCode: () => string;
  readonly pass: PassPoint;
  readonly log: Logger;
}

/** Commands that depend on the right to change a group's conversation without being refused for it. */
const LIMITED: ReadonlySet<string> = new Set(['stop', 'resend', 'help']);

/** What the sender of a command may do here; the platform is asked only where a command needs it. */
export async function rankOf(
  { rules, log }: Pick<CommandDeps, 'rules' | 'log'>,
  {
    message,
    standing: { isOwner },
    sender,
  }: {
    readonly message: InboundMessage;
    readonly standing: Standing;
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
 * Carries a command out without lane or model, so that it overtakes what waits (F09). Its effect,
 * its answer and the proof that it was taken are one transaction.
 */
export async function carryOut(
  deps: CommandDeps,
  admitted: AdmittedMessage,
  command: TypedCommand,
  asker: CommandAsker,
): Promise<IngressOutcome> {
  const { conversationId, message, route } = admitted;
  const { isOwner, isDirect } = asker;
  // Without the right the table of commands declines; `/mode` alone asks for none.
  const decision = decideCommand(command.name, asker);
  // What a group reads is read by all of it.
  const audience = isOwner && isDirect ? 'owner' : 'others';
  const facts: CommandFacts = {
    message,
    argument: command.argument,
    situation: deps.situation(),
    asker,
    groupCommands: deps.rules.policy.access.groupCommands,
    audience,
    stories: await storiesFor(deps, decision, route),
    todos: command.name === 'status' ? await deps.store.todos.now(conversationId) : [],
    desk:
      (await whyFor(deps, admitted, decision, command, audience)) ??
      (await askDesk(deps.desks ?? {}, admitted, decision, command, audience)),
    statusLine: await statusLineFor(deps, decision, audience),
    skills: command.name === 'help' ? ((await deps.skillCommands?.(audience)) ?? []) : [],
    now: admitted.receivedAt,
  };
  const effect = effectOf(decision, command, message, asker, deps.newCode);
  const woken: ReplyRoute[] = [route];
  const result = await deps.store.inbox.command(
    withoutSecret(admitted, command),
    effect,
    (found) => {
      const answer = partsOf(answerOf(decision, command, facts, found), route);
      const news = newsFor(found, message);
      woken.push(...news.map((part) => part.route));
      return [...answer, ...news];
    },
  );
  deps.pass('inbox-committed');
  // A /stop that is told twice must not stop what was asked after it.
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
  { approval, plan, resend }: CommandResult,
): IngressOutcome {
  if (decision.kind === 'decline') {
    return { kind: 'command', name, declined: declined(name, decision, groupCommands) };
  }
  if (resend === 'others') return { kind: 'command', name, declined: resendText(resend) };
  const isDecided = approval?.kind === 'decided' || approval?.kind === 'closed';
  const isSettled = isDecided || plan !== undefined || resend !== undefined;
  return { kind: 'command', name, ...(isSettled ? { settled: true } : {}) };
}

/** Where there is work now: a turn goes on after its decision, or a plan is run. */
function lanesToWake(conversationId: string, { plan, approval }: CommandResult): readonly string[] {
  return [
    ...(plan === 'runs' ? [conversationId] : []),
    ...(approval?.kind === 'decided' ? [approval.approval.conversationId] : []),
  ];
}

/** Few ever ask for all of one message, so what tells it is loaded then. */
async function whyFor(
  deps: CommandDeps,
  admitted: AdmittedMessage,
  decision: CommandDecision,
  command: TypedCommand,
  audience: 'owner' | 'others',
): Promise<string | undefined> {
  if (decision.kind !== 'run' || decision.name !== 'why') return undefined;
  const { answerWhy } = await import('./why.ts');
  return answerWhy(deps, admitted, command, audience);
}

/** How many messages `/why` tells of: what fits on a telephone. */
const STORIES = 8;

async function storiesFor(deps: CommandDeps, decision: CommandDecision, route: ReplyRoute) {
  const isWhy = decision.kind === 'run' && decision.name === 'why';
  return isWhy ? deps.store.decisions.stories(route, STORIES) : [];
}

/** What the agent does on its own is its owner's business. */
async function statusLineFor(
  { desks }: CommandDeps,
  decision: CommandDecision,
  audience: 'owner' | 'others',
): Promise<string | undefined> {
  const isStatus = decision.kind === 'run' && decision.name === 'status';
  return isStatus && audience === 'owner' ? desks?.statusLine?.() : undefined;
}

function answerOf(
  decision: CommandDecision,
  command: TypedCommand,
  facts: CommandFacts,
  found: CommandResult,
): string {
  return decision.kind === 'run'
    ? commandAnswer(decision.name, facts, found)
    : declined(command.name, decision, facts.groupCommands);
}

/** What people elsewhere must be told of a command's effect. */
function newsFor({ pairing, link }: CommandResult, message: InboundMessage): readonly NewPart[] {
  const approved = pairing?.approved;
  const news = linkNews(link, message);
  return [
    ...(approved ? welcomeParts(approved) : []),
    ...(news === null ? [] : partsOf(news.text, news.route)),
  ];
}

function effectOf(
  decision: CommandDecision,
  { argument }: TypedCommand,
  message: InboundMessage,
  { isOwner, mayChangeChat }: CommandAsker,
  newCode: () => string,
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
    case 'approve':
    case 'deny':
      return approvalEffect(decision.name, argument, message);
    case 'new':
      return { kind: 'new-session' };
    case 'link':
      return linkEffect(message, argument, isOwner, newCode());
    case 'pair':
      return { kind: 'pair', code: typedCode(argument) };
    default:
      return { kind: 'none' };
  }
}

/** The message as it is kept: what is to be forgotten must not be stored with the wish to forget it. */
function withoutSecret(admitted: AdmittedMessage, { name }: TypedCommand): AdmittedMessage {
  if (name !== 'forget') return admitted;
  const { replyTo: _replyTo, ...message } = admitted.message;
  return { ...admitted, message: { ...message, text: '/forget' } };
}
