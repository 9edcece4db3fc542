import { randomUUID } from 'node:crypto';
import { formatDuration, pluralize } from '@parley/core';
import type { OutputOf } from '@parley/gateway/operations';
import type { CliContext } from '../cli.ts';
import { operateAndPrint } from '../operate.ts';
import { formatSecond, formatTable, stripControlCharacters } from '../terminal/text.ts';
import { formatMoney } from './usage.ts';

/**
 * `parley conversations …` (U08, U12): lists, takes over and changes conversations. The exit code
 * is 0 on success and 1 if the operation was refused, with the reason printed.
 */
export function listConversations(
  cli: CliContext,
  limit: number,
  before?: number,
): Promise<number> {
  return operateAndPrint(cli, 'conversations/list', { limit, before }, formatConversationList);
}

export function showConversation(cli: CliContext, id: string): Promise<number> {
  return operateAndPrint(cli, 'conversations/show', { id }, formatConversation);
}

export function takeOverConversation(
  cli: CliContext,
  conversationId: string,
  minutes: number,
): Promise<number> {
  return operateAndPrint(
    cli,
    'conversations/take-over',
    { conversationId, minutes },
    ({ until }) =>
      `The agent stays silent in that conversation until ${formatSecond(until)}, or until you run "parley conversations hand-back ${stripControlCharacters(conversationId)}".`,
  );
}

export function handBackConversation(cli: CliContext, conversationId: string): Promise<number> {
  return operateAndPrint(cli, 'conversations/hand-back', { conversationId }, ({ handedBack }) =>
    handedBack
      ? 'The agent answers in that conversation again.'
      : 'That conversation was not taken over.',
  );
}

export function replyToConversation(
  cli: CliContext,
  conversationId: string,
  text: string,
  as: 'agent' | 'self',
): Promise<number> {
  const order = { conversationId, text, as, requestId: randomUUID() };
  return operateAndPrint(cli, 'conversations/reply', order, ({ answered }) =>
    answered === 0
      ? 'The message is queued.'
      : `The message is queued; the agent will no longer answer ${pluralize(answered, 'message')}.`,
  );
}

export function renameConversation(cli: CliContext, id: string, title: string): Promise<number> {
  return operateAndPrint(cli, 'conversations/rename', { id, title }, () =>
    title.trim() === ''
      ? 'The conversation has its original title again.'
      : `The conversation is now named ${stripControlCharacters(title)}.`,
  );
}

export function pinConversation(cli: CliContext, id: string, pinned: boolean): Promise<number> {
  return operateAndPrint(cli, 'conversations/pin', { id, pinned }, () =>
    pinned ? 'Pinned.' : 'No longer pinned.',
  );
}

export function archiveConversation(
  cli: CliContext,
  id: string,
  archived: boolean,
): Promise<number> {
  return operateAndPrint(cli, 'conversations/archive', { id, archived }, () =>
    archived ? 'Archived.' : 'The conversation is back in the inbox.',
  );
}

export function markConversationRead(
  cli: CliContext,
  id: string,
  isRead: boolean,
): Promise<number> {
  return isRead
    ? operateAndPrint(cli, 'conversations/mark-read', { id }, () => 'Read.')
    : operateAndPrint(cli, 'conversations/mark-unread', { id }, () => 'Unread.');
}

/** Without `isSure`, the command only prints what would be deleted. */
export function deleteConversation(cli: CliContext, id: string, isSure: boolean): Promise<number> {
  if (!isSure) {
    const command = `parley conversations delete ${stripControlCharacters(id)} --yes`;
    return operateAndPrint(
      cli,
      'conversations/contents',
      { id },
      (contents) =>
        `This would delete ${describeDeletedContents(contents)} for everyone. It cannot be undone. Memories, spend records and the messages on the platform itself are kept. Nothing was deleted; to delete the conversation, run "${command}".`,
    );
  }
  return operateAndPrint(
    cli,
    'conversations/delete',
    { id },
    ({ messages, cronJobs }) =>
      `Deleted ${pluralize(messages, 'message')} with ${cronJobs === 0 ? 'everything that belongs to them' : `everything that belongs to them, and ${pluralize(cronJobs, 'job')}`}.`,
  );
}

function describeDeletedContents(contents: OutputOf<'conversations/contents'>): string {
  const { messages, answers, files, cronJobs } = contents;
  const counts = [
    pluralize(messages, 'message'),
    pluralize(answers, 'answer'),
    ...(files === 0 ? [] : [pluralize(files, 'file')]),
    ...(cronJobs === 0 ? [] : [pluralize(cronJobs, 'job')]),
  ];
  return new Intl.ListFormat('en').format(counts);
}

export function listTakeovers(cli: CliContext, limit: number, before?: number): Promise<number> {
  return operateAndPrint(cli, 'conversations/takeovers', { limit, before }, formatTakeoverList);
}

type ConversationList = OutputOf<'conversations/list'>;
type ListedConversation = ConversationList['conversations'][number];

function formatConversationList({ now, conversations, next }: ConversationList): string {
  if (conversations.length === 0) return 'No conversations.';
  const rows = conversations.map((one) => [one.id, one.name ?? one.title, describeState(one, now)]);
  const more =
    next === null ? '' : `\nTo list older ones, run: parley conversations list --before ${next}`;
  return `${formatTable([['conversation', 'with', 'state'], ...rows])}${more}`;
}

function describeState(
  { takenOver, state, waiting }: Pick<ListedConversation, 'takenOver' | 'state' | 'waiting'>,
  now: number,
): string {
  const waits = waiting === 0 ? '' : `, ${pluralize(waiting, 'message')} waiting`;
  if (takenOver === null) return `${state}${waits}`;
  const left = formatDuration(Math.max(0, takenOver.until - now));
  return `taken over by ${takenOver.by} for another ${left}${waits}`;
}

function formatConversation(found: OutputOf<'conversations/show'>): string {
  const { id, name, title, now, agent, mode, model, usualModel, failure, last, spent } = found;
  return formatTable([
    ['conversation', id],
    ['with', name ?? title],
    ['state', describeState(found, now)],
    ['agent', `${agent}, mode ${mode}`],
    ['model', model ?? usualModel],
    ['last', formatSecond(last.at)],
    ...(failure === null ? [] : [['failed', `${formatSecond(failure.at)}: ${failure.reason}`]]),
    ['30 days', `${pluralize(spent.turns, 'turn')}, ${spent.tokens} tokens, ${formatMoney(spent)}`],
    ...found.files.map((file) => ['file', `${file.name ?? file.kind}, ${formatSecond(file.at)}`]),
  ]);
}

type TakeoverEntry = OutputOf<'conversations/takeovers'>['entries'][number];

function formatTakeoverList({ entries, next }: OutputOf<'conversations/takeovers'>): string {
  if (entries.length === 0) return 'No one has taken over a conversation or written into one.';
  const lines = entries.map((one) =>
    stripControlCharacters(
      `${formatSecond(one.at)}  ${one.title ?? one.conversationId}: ${one.by} ${describeTakeoverEntry(one)}`,
    ),
  );
  const more =
    next === null
      ? []
      : [`To list older ones, run: parley conversations takeovers --before ${next}`];
  return [...lines, ...more].join('\n');
}

function describeTakeoverEntry(entry: TakeoverEntry): string {
  if (entry.kind === 'reply') {
    return entry.as === 'agent' ? "wrote in the agent's name" : 'wrote under their own name';
  }
  const { until, endedAt, endedBy } = entry;
  if (endedAt === null) return `took it over until ${formatSecond(until)}`;
  const end = endedBy === null ? 'the takeover expired' : `${endedBy} ended it`;
  return `took it over; ${end} ${formatSecond(endedAt)}`;
}
