import { type InboundMessage, literal, literalLine, todoLines } from '@parley/core';
import type { CommandResult, MessageStory, TodoItem } from '@parley/store';
import type { CommandInfo } from '../adapter.ts';
import {
  type CommandAsker,
  type CommandDecision,
  type CommandName,
  commandsFor,
  type GroupCommands,
  groupRefusal,
  type ReadyCommand,
  skillHelp,
} from './command.ts';
import { personId } from './decide.ts';
import { answerText, approvalText, modelText, modeText, runText } from './modes-and-approvals.ts';
import { linkText, pairText } from './pairing.ts';
import { whyText } from './why.ts';

/** About messages that ended the process whenever it took them in. */
export const GIVEN_UP =
  '⚙️ Something went wrong each time I tried to read what you sent last, and I have given up on it. Please put it in other words; the log says what it was.';

/** What commands and notices can say about the running gateway. */
export interface Situation {
  /** The agent's name for people. */
  readonly agentName: string;
  /** Which model answers and why, without a capital or a full stop: `offline – no model …`. */
  readonly model: string;
  /** Those that `/model` may choose besides. */
  readonly models: readonly string[];
}

/** What the answer to a command is made from, besides what its effect found. */
export interface CommandFacts {
  readonly message: InboundMessage;
  readonly argument: string;
  readonly situation: Situation;
  readonly asker: CommandAsker;
  readonly groupCommands: GroupCommands;
  /** `owner`: only the owner reads the answer. */
  readonly audience: 'owner' | 'others';
  /** Of the chat's last messages, for `/why`. */
  readonly stories: readonly MessageStory[];
  /** Of the session, for `/status`. */
  readonly todos: readonly TodoItem[];
  /** Of the service of this command, if it has one. */
  readonly serviceAnswer?: string | undefined;
  /** For `/status`. */
  readonly statusLine?: string | undefined;
  /** The skills this reader can call, for `/help`. */
  readonly skills: readonly CommandInfo[];
  readonly now: number;
}

/** What a command answers, in Markdown, from what its effect found. No model is asked. */
export function commandAnswer(
  name: ReadyCommand,
  facts: CommandFacts,
  result: CommandResult,
): string {
  const { message, argument, asker, serviceAnswer } = facts;
  switch (name) {
    case 'help':
      return helpText(facts);
    case 'new':
      return 'A fresh start: I no longer see what was said here before.';
    case 'status':
      return statusText(facts, result);
    case 'stop':
      return stopText(result, asker);
    case 'whoami':
      return `You are \`${personId(message)}\` in the ${message.chat.type} chat \`${message.chat.id}\`.`;
    case 'why':
      return serviceAnswer ?? `${whyText(facts.stories, facts.now, facts.audience)}\n\n${WHY_ONE}`;
    case 'memory':
    case 'forget':
    case 'soul':
    case 'heartbeat':
    case 'zone':
      return serviceAnswer ?? '';
    case 'mode':
      return modeText(argument, result.mode);
    case 'model':
      return modelText(argument, modelsFor(facts), result.model?.now ?? null);
    case 'run':
      return runText(argument, result.plan);
    case 'approve':
    case 'deny':
      return approvalText(result.approval);
    case 'answer':
      return answerText(result.answer);
    case 'resend':
      return resendText(result.resend);
    case 'link':
      return linkText(result.link);
    case 'pair':
      return pairText(argument, result.pairing ?? { approved: null, pending: [] });
  }
}

/** The answer to a press below a message that is not, or no longer, the one that offered it. */
export const VOID_PRESS =
  'That button does nothing: its message is not as I sent it. If I asked for an approval, `/approve` shows what waits, in full.';

const WHY_ONE = '`/why last`, `/why` with an id, or `/why` as a reply: all of one message.';

/** What `/resend` answers; the message itself is above it. */
export function resendText(resend: CommandResult['resend']): string {
  switch (resend) {
    case 'resent':
      return 'I have sent it again.';
    case 'settled':
      return 'That is settled already: I send it only once more.';
    case 'others':
      return 'That was for another person; they can have it sent again, or those who may change this conversation.';
    case 'none':
    case undefined:
      return 'There is nothing here to be sent again: all my messages arrived.';
  }
}

/** Says why a command was not run, politely and without a model. */
export function declined(
  name: CommandName,
  decision: Extract<CommandDecision, { kind: 'decline' }>,
  rule: GroupCommands,
): string {
  switch (decision.why) {
    case 'owner-only':
      return `/${name} is for my owner only.`;
    case 'approver-only':
      return `/${name} is for my owner, and for those my owner has named.`;
    case 'direct-only':
      return `Please send me /${name} in a direct chat: what it shows is not for everyone here.`;
    case 'group-right':
      return groupRefusal(name, rule);
  }
}

/** Explains to a stranger how to get access; in direct chats only. */
export function strangerNotice(message: InboundMessage): string {
  const key = `channels.${message.channel}`;
  return [
    'This bot is private and does not know you yet.',
    `If it is yours, add \`${personId(message)}\` to \`owners\` in its settings file.`,
    `To allow another person, add \`"${message.sender.id}"\` to \`${key}.access.allow\`.`,
  ].join('\n\n');
}

/** A message was too long. Lengths in characters. */
export function tooLongNotice(length: number, limit: number): string {
  return `That message has ${length} characters; I can take ${limit} at once. Please send it in smaller pieces.`;
}

/** Too many messages of this chat wait already (D07). */
export function overflowNotice(waiting: number): string {
  return `I did not take that one: ${waiting} of your messages still wait for an answer. Please wait a little, or send /stop to drop them.`;
}

/** Too many messages of all chats wait already (D07). */
export const NO_ROOM =
  'I did not take that one: so many messages of other chats wait for an answer that I cannot take more now. Please send it again in a few minutes.';

/** Which model answers, and on which host, is the owner's business. */
/** How the model of the settings was chosen is the owner's business. */
function modelsFor({ situation: { model, models }, audience }: CommandFacts) {
  return { models, model: audience === 'owner' ? model : undefined };
}

function statusText(
  { situation, audience, todos, statusLine }: CommandFacts,
  { model: chosen }: CommandResult,
): string {
  const { agentName } = situation;
  const model = chosen?.now ?? situation.model;
  return [
    `${literalLine(agentName)} is here.`,
    ...(audience === 'owner' ? [`Model: ${model}`] : []),
    ...(statusLine === undefined ? [] : [statusLine]),
    ...(todos.length > 0 ? [`To-dos, ${todoLines(todos)}`] : []),
  ].join('\n\n');
}

function helpText({ situation, asker, skills }: CommandFacts): string {
  return [
    `I am ${literalLine(situation.agentName)}. Just write to me, or use a command:\n`,
    ...commandsFor(asker).map(helpLine),
    ...skillHelp(skills),
  ].join('\n');
}

function helpLine({ name, summary, takes = '' }: CommandInfo): string {
  return `- /${name}${takes === '' ? '' : ` ${literal(takes)}`} – ${summary}`;
}

function stopText(result: CommandResult, { mayChangeChat }: CommandAsker): string {
  const isStopped = result.stoppedTurn !== null || (result.stoppedSubAgents ?? []).length > 0;
  const nothing = mayChangeChat
    ? 'Nothing was running.'
    : 'Nothing that only you asked for is running.';
  const stopped = isStopped ? 'Stopped.' : nothing;
  if (result.setAside === 0) return stopped;
  const messages =
    result.setAside === 1
      ? 'One message that waited is'
      : `${result.setAside} messages that waited are`;
  return `${stopped} ${messages} set aside unanswered.`;
}
