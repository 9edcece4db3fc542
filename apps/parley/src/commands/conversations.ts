import { randomUUID } from 'node:crypto';
import { countOf, shortDuration } from '@parley/core';
import type { OutputOf } from '@parley/gateway/operations';
import type { Cli } from '../cli.ts';
import { operate } from '../operate.ts';
import { secondText, tableText, visible } from '../terminal/text.ts';
import { moneyText } from './usage.ts';

/**
 * `parley conversations …` (U08, U12). Exit code 0 if it was done, 1 if it was refused, with
 * the reason printed.
 */
export function listConversations(cli: Cli, limit: number, before?: number): Promise<number> {
  return operate(cli, 'conversations/list', { limit, before }, listText);
}

export function showConversation(cli: Cli, id: string): Promise<number> {
  return operate(cli, 'conversations/show', { id }, conversationText);
}

export function takeOver(cli: Cli, conversationId: string, minutes: number): Promise<number> {
  return operate(
    cli,
    'conversations/take-over',
    { conversationId, minutes },
    ({ until }) =>
      `The agent is silent there until ${secondText(until)}, or until "parley conversations hand-back ${visible(conversationId)}".`,
  );
}

export function handBack(cli: Cli, conversationId: string): Promise<number> {
  return operate(cli, 'conversations/hand-back', { conversationId }, ({ handedBack }) =>
    handedBack ? 'The agent answers there again.' : 'No person had taken over that conversation.',
  );
}

export function reply(
  cli: Cli,
  conversationId: string,
  text: string,
  as: 'agent' | 'self',
): Promise<number> {
  const order = { conversationId, text, as, requestId: randomUUID() };
  return operate(cli, 'conversations/reply', order, ({ answered }) =>
    answered === 0
      ? 'The message is queued.'
      : `The message is queued; the agent will no longer answer ${countOf(answered, 'message')}.`,
  );
}

export function rename(cli: Cli, id: string, title: string): Promise<number> {
  return operate(cli, 'conversations/rename', { id, title }, () =>
    title.trim() === ''
      ? 'The conversation has its original title again.'
      : `The conversation is now named ${visible(title)}.`,
  );
}

export function pin(cli: Cli, id: string, pinned: boolean): Promise<number> {
  return operate(cli, 'conversations/pin', { id, pinned }, () =>
    pinned ? 'Pinned.' : 'No longer pinned.',
  );
}

export function archive(cli: Cli, id: string, archived: boolean): Promise<number> {
  return operate(cli, 'conversations/archive', { id, archived }, () =>
    archived ? 'Archived.' : 'The conversation is back in the inbox.',
  );
}

export function markRead(cli: Cli, id: string, isRead: boolean): Promise<number> {
  return isRead
    ? operate(cli, 'conversations/mark-read', { id }, () => 'Read.')
    : operate(cli, 'conversations/mark-unread', { id }, () => 'Unread.');
}

/** Without `isSure`, it only prints what would be lost. */
export function deleteConversation(cli: Cli, id: string, isSure: boolean): Promise<number> {
  if (!isSure) {
    const command = `parley conversations delete ${visible(id)} --yes`;
    return operate(
      cli,
      'conversations/contents',
      { id },
      (contents) =>
        `This would delete ${lossText(contents)} for everyone, and it cannot be undone. Memories, spend and what the platform itself shows stay. Nothing was deleted: to delete it, run "${command}".`,
    );
  }
  return operate(
    cli,
    'conversations/delete',
    { id },
    ({ messages, cronJobs }) =>
      `Deleted ${countOf(messages, 'message')} with ${cronJobs === 0 ? 'all that belongs to them' : `all that belongs to them, and ${countOf(cronJobs, 'job')}`}.`,
  );
}

function lossText(contents: OutputOf<'conversations/contents'>): string {
  const { messages, answers, files, cronJobs } = contents;
  const counts = [
    countOf(messages, 'message'),
    countOf(answers, 'answer'),
    ...(files === 0 ? [] : [countOf(files, 'file')]),
    ...(cronJobs === 0 ? [] : [countOf(cronJobs, 'job')]),
  ];
  return new Intl.ListFormat('en').format(counts);
}

export function listTakeovers(cli: Cli, limit: number, before?: number): Promise<number> {
  return operate(cli, 'conversations/takeovers', { limit, before }, recordText);
}

type List = OutputOf<'conversations/list'>;
type Listed = List['conversations'][number];

function listText({ now, conversations, next }: List): string {
  if (conversations.length === 0) return 'No conversations.';
  const rows = conversations.map((one) => [one.id, one.name ?? one.title, stateText(one, now)]);
  const more =
    next === null ? '' : `\nFor older ones, run: parley conversations list --before ${next}`;
  return `${tableText([['conversation', 'with', 'state'], ...rows])}${more}`;
}

function stateText(
  { takenOver, state, waiting }: Pick<Listed, 'takenOver' | 'state' | 'waiting'>,
  now: number,
): string {
  const waits = waiting === 0 ? '' : `, ${countOf(waiting, 'message')} waiting`;
  if (takenOver === null) return `${state}${waits}`;
  const left = shortDuration(Math.max(0, takenOver.until - now));
  return `taken over by ${takenOver.by} for ${left} more${waits}`;
}

function conversationText(found: OutputOf<'conversations/show'>): string {
  const { id, name, title, now, agent, mode, model, usualModel, failure, last, spent } = found;
  return tableText([
    ['conversation', id],
    ['with', name ?? title],
    ['state', stateText(found, now)],
    ['agent', `${agent}, mode ${mode}`],
    ['model', model ?? usualModel],
    ['last', secondText(last.at)],
    ...(failure === null ? [] : [['failed', `${secondText(failure.at)}: ${failure.reason}`]]),
    ['30 days', `${countOf(spent.turns, 'turn')}, ${spent.tokens} tokens, ${moneyText(spent)}`],
    ...found.files.map((file) => ['file', `${file.name ?? file.kind}, ${secondText(file.at)}`]),
  ]);
}

type Entry = OutputOf<'conversations/takeovers'>['entries'][number];

function recordText({ entries, next }: OutputOf<'conversations/takeovers'>): string {
  if (entries.length === 0) return 'No person has taken over a conversation or written into one.';
  const lines = entries.map((one) =>
    visible(
      `${secondText(one.at)}  ${one.title ?? one.conversationId}: ${one.by} ${whatText(one)}`,
    ),
  );
  const more =
    next === null ? [] : [`For older ones, run: parley conversations takeovers --before ${next}`];
  return [...lines, ...more].join('\n');
}

function whatText(entry: Entry): string {
  if (entry.kind === 'reply') {
    return entry.as === 'agent' ? 'wrote in the name of the agent' : 'wrote under their own name';
  }
  const { until, endedAt, endedBy } = entry;
  if (endedAt === null) return `took it over until ${secondText(until)}`;
  const end = endedBy === null ? 'the takeover expired' : `${endedBy} ended it`;
  return `took it over; ${end} ${secondText(endedAt)}`;
}
