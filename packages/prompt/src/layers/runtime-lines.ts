import type { RuntimeFacts } from '@parley/contracts';
import type { PromptContext } from '../prompt-context.ts';
import { shownWorkspace } from './shown-path.ts';

/** Most mentions that are listed. */
const MAX_MENTIONS = 20;

/**
 * What is the same in every turn of a chat, as lines (F02). Only what Parley and its operator decided:
 * names, titles and turn variables may be the words of chat users and stand in the message context (P18).
 */
export function chatLines(context: PromptContext): string[] {
  const { facts, reader, identity } = context;
  const where = [
    ...(facts.groupId === undefined ? [] : [` ${id(facts.groupId)}`]),
    ...(facts.threadId === undefined ? [] : [`, thread ${id(facts.threadId)}`]),
  ].join('');
  const privacy =
    reader.kind === 'owner'
      ? 'main session: you are alone with your owner'
      : 'not the main session: private files of your owner are not shown here';
  return [
    `Agent: ${identity.name} (id ${id(facts.agent.id)})`,
    `Workspace: ${shownWorkspace(context)}${reader.kind === 'owner' ? '' : ' (name files relative to it)'}`,
    `Time zone: ${facts.timeZone}`,
    `Channel: ${id(facts.channel)}, account ${id(facts.account)}`,
    `Chat: ${facts.chatType}${where}`,
    `Privacy: ${privacy}`,
  ];
}

/** What the next turn may change, the clock and the message last (P09). */
export function turnLines({ facts }: PromptContext): string[] {
  const reply =
    facts.replyToMessageId === undefined ? '' : `, reply to ${id(facts.replyToMessageId)}`;
  return [
    `Person: ${id(facts.user.id)} (on this channel ${id(facts.channelUserId)})`,
    `Heartbeat: ${facts.heartbeat ? 'yes' : 'no'}`,
    `Addressed to you: ${facts.addressed ? 'yes' : 'no'}`,
    ...mentionLine(facts),
    `Date: ${facts.date}`,
    `Time: ${facts.time}`,
    `Message: ${id(facts.messageId)}${reply}`,
  ];
}

/** Lines as a Markdown list. */
export function listed(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n');
}

function mentionLine({ mentions }: RuntimeFacts): string[] {
  if (mentions.length === 0) return [];
  const cut = mentions.length > MAX_MENTIONS ? ` [cut: ${MAX_MENTIONS} of ${mentions.length}]` : '';
  return [`Mentions: ${mentions.slice(0, MAX_MENTIONS).map(id).join(', ')}${cut}`];
}

/** Platforms give ids without spaces. Anything else might be somebody's sentence and is left out. */
function id(value: string): string {
  return /^[\w.:@+=/#~-]{1,128}$/.test(value) ? value : '(unusual id, not shown)';
}
