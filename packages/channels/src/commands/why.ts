import { formatDuration, formatInlineCode, toLiteralLine } from '@parley/core';
import type { MessageTrace, PendingApproval, TurnTrace, WhyRepository } from '@parley/store';
import { type CommandContext, defineChatCommand } from './command.ts';

/** The number of messages to explain; more would not fit on a phone screen. */
const MAX_STORIES = 8;

const WHY_ONE = '`/why last`, `/why` with an id, or `/why` as a reply: all of one message.';

export const why = defineChatCommand({
  name: 'why',
  summary: 'what happened to the last messages',
  takes: '[last]',
  rest: 'argument',
  who: 'owner',
  private: true,
  async prepare(context, { store }) {
    const { argument, message, route, agent, receivedAt, audience } = context;
    const named = argument === '' ? message.replyTo?.messageId : argument;
    if (named !== undefined) return describeTimeline(store.why, context, named);
    const stories = await store.decisions.stories(route, MAX_STORIES, agent);
    return `${describeStories(stories, receivedAt, audience)}\n\n${WHY_ONE}`;
  },
  run: async (_context, _transaction, answer) => ({ answer }),
});

/** The timeline of a message. Only messages of this chat are searched. */
async function describeTimeline(
  repository: WhyRepository,
  { route, agent, receivedAt, audience }: CommandContext,
  named: string,
): Promise<string> {
  const { channel, account, chatId } = route;
  // Imported on demand, because full timelines are rarely requested.
  const { describeWhyAnswer } = await import('./timeline-text.ts');
  const chat = { channel, account, chatId };
  const found = await repository.ask({ message: named, chat, agent: agent ?? null }, receivedAt);
  return describeWhyAnswer(found, audience === 'owner' ? 'chat' : 'group');
}

/**
 * Who reads the explanation. In a group, every member reads the answer, so servers are not named
 * there.
 */
type ExplanationAudience = CommandContext['audience'];

/** Explains what happened to the latest messages of a chat (D08), in Markdown. `now` is in ms. */
export function describeStories(
  stories: readonly MessageTrace[],
  now: number,
  audience: ExplanationAudience,
): string {
  if (stories.length === 0) return 'I have no message on record here.';
  const lines = stories.map((story) => {
    const which = story.outcome === 'alert' ? '' : ` (message \`${story.messageId}\`)`;
    return `- ${formatDuration(now - story.at)} ago${which}: ${describeStory(story, now, audience)}`;
  });
  return ['The last messages here, oldest first:\n', ...lines].join('\n');
}

function describeStory(story: MessageTrace, now: number, audience: ExplanationAudience): string {
  const why = story.reason === null ? '' : ` (${toLiteralLine(story.reason)})`;
  const { turn } = story;
  const taken = `taken${why}${describeInterruptions(story)}`;
  switch (story.outcome) {
    case 'ignored':
      return `no answer${why}.`;
    case 'refused':
      return `refused${why}.`;
    case 'command':
      return `a command${why}; answered at once, without the model.`;
    case 'waiting':
      return `${taken}; waits for its turn.`;
    case 'withdrawn':
      return `${taken}; deleted by its author before its turn.`;
    case 'set-aside':
      return `${taken}; set aside by /stop before its turn.`;
    case 'alert':
      return describeAlert(story, audience);
    case 'turn': {
      if (turn === null) return `${taken}.`;
      const waited = `waited ${formatDuration(turn.startedAt - story.at)}`;
      return `${taken}; ${waited}; ${describeTurn(turn, now, audience)}`;
    }
  }
}

/** The number of turns before the one that answered. */
function describeInterruptions({ interruptions = 0 }: MessageTrace): string {
  if (interruptions === 0) return '';
  const times = interruptions === 1 ? '' : ` ${interruptions} times`;
  return `; its turn was interrupted by a later message${times}`;
}

/** A group is not shown the name of the task. */
function describeAlert(
  { messageId, reason, turn }: MessageTrace,
  audience: ExplanationAudience,
): string {
  const task = audience === 'others' || reason === null ? '' : ` ${formatInlineCode(reason)}`;
  const delivery = turn === null ? '' : `; ${describeParts(turn.parts)}`;
  if (messageId.startsWith('hook_'))
    return `an alert ⚙️ about an event from my hook${task}${delivery}.`;
  // Scheduled runs are named `beat_…`; all others were requested.
  const how = messageId.startsWith('beat_') ? 'of a heartbeat' : 'that was asked for';
  return `an alert ⚙️ from my standing task${task}, in a run ${how}${delivery}.`;
}

function describeTurn(turn: TurnTrace, now: number, audience: ExplanationAudience): string {
  const took = formatDuration((turn.finishedAt ?? now) - turn.startedAt);
  const again = turn.attempts > 1 ? `, started ${turn.attempts} times` : '';
  // The reason for a failure may name a server; the group was notified when the turn failed.
  const reason =
    turn.reason === null || audience === 'others' ? '' : ` (${toLiteralLine(turn.reason)})`;
  switch (turn.outcome) {
    case 'running':
      if (turn.awaits !== undefined) return describePendingApproval(turn.awaits, now, audience);
      return `its turn has been running for ${took}${again}.`;
    case 'interrupted':
      return `interrupted by a later message after ${took}${again}.`;
    case 'stopped':
      return `stopped by /stop after ${took}${again}.`;
    case 'silent':
      return `the agent chose to say nothing${reason} after ${took}${again}.`;
    case 'failed':
      return `failed${reason} after ${took}${again}; ${describeParts(turn.parts)}.`;
    case 'answered':
      return `answered after ${took}${again}; ${describeParts(turn.parts)}.`;
  }
}

/** Names the people who may approve, and the remaining time. A group is not shown the names. */
function describePendingApproval(
  { tool, code, approvers, expiresAt }: PendingApproval,
  now: number,
  audience: ExplanationAudience,
): string {
  const names = approvers.map((person) => `\`${person}\``).join(', ');
  const others = audience === 'owner' ? names : 'an approver my owner has named';
  const whose = `my owner${names === '' ? '' : ` or ${others}`}`;
  const left =
    expiresAt > now
      ? `it continues without it in ${formatDuration(expiresAt - now)}`
      : 'the time is up, and it continues without it now';
  return `its turn waits until ${whose} approves \`${tool}\` (\`/approve ${code}\` or \`/deny ${code}\`); ${left}.`;
}

function describeParts(parts: TurnTrace['parts']): string {
  const counts = [
    [parts.sent, 'sent'],
    [parts.waiting, 'on the way'],
    [parts.unknown, 'perhaps sent'],
    [parts.failed, 'not deliverable'],
  ] as const;
  const shown = counts.flatMap(([count, word]) => (count === 0 ? [] : [`${count} ${word}`]));
  return shown.length === 0 ? 'no parts' : `parts: ${shown.join(', ')}`;
}
