import type { RuntimeFacts } from '@parley/contracts';
import type { Layer } from '../layer.ts';
import type { PromptContext } from '../prompt-context.ts';
import { quoteUntrusted } from './untrusted-text.ts';

/**
 * Where, when and for whom the turn runs (F02). Only what Parley and its operator decided: words of
 * chat users are in the message context (P18). Lines that change least come first, so that a cached
 * prefix reaches far into it (P09).
 */
export const runtimeFactsLayer: Layer = {
  id: 'runtime-facts',
  volatility: 'turn',
  placement: 'system',
  render(context) {
    const lines = [...placeLines(context), ...turnLines(context.facts)];
    const text = `## Runtime Facts\n${lines.map((line) => `- ${line}`).join('\n')}`;
    const { conversationId } = context.reader;
    return { text, source: 'runtime facts', audience: { kind: 'conversation', conversationId } };
  },
};

/** The same for every turn of a chat. */
function placeLines({ facts, reader, home, identity }: PromptContext): string[] {
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
    `Workspace: ${withTilde(facts.workspace, home)}`,
    `Time zone: ${facts.timeZone}`,
    `Channel: ${id(facts.channel)}, account ${id(facts.account)}`,
    `Chat: ${facts.chatType}${where}`,
    `Privacy: ${privacy}`,
  ];
}

/** What the next turn may change; the clock and the message come last. */
function turnLines(facts: RuntimeFacts): string[] {
  const variables = Object.entries(facts.variables).map(
    ([key, value]) => `Variable ${quoteUntrusted(key, 60)}: ${quoteUntrusted(value, 300)}`,
  );
  const reply =
    facts.replyToMessageId === undefined ? '' : `, reply to ${id(facts.replyToMessageId)}`;
  return [
    `Person: ${id(facts.user.id)} (on this channel ${id(facts.channelUserId)})`,
    `Heartbeat: ${facts.heartbeat ? 'yes' : 'no'}`,
    ...variables,
    `Addressed to you: ${facts.addressed ? 'yes' : 'no'}`,
    `Date: ${facts.date}`,
    `Time: ${facts.time}`,
    `Message: ${id(facts.messageId)}${reply}`,
  ];
}

/** Platforms give ids without spaces. Anything else might be somebody's sentence and is left out. */
function id(value: string): string {
  return /^[\w.:@+=/#~-]{1,128}$/.test(value) ? value : '(unusual id, not shown)';
}

function withTilde(path: string, home: string | undefined): string {
  if (home === undefined || home === '') return path;
  if (path === home) return '~';
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
