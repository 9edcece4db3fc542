import { formatEmoji } from './components.ts';
import { formatDiscordTime } from './mentions.ts';
import type { WirePoll } from './wire-message.ts';

/**
 * A poll as it is displayed: the question, the answers with their votes if Discord sends the votes,
 * and the closing time. Empty if there is neither a question nor an answer.
 */
export function renderPoll({ question, answers, results, ...poll }: WirePoll): string {
  const counts = new Map(results?.answer_counts.map(({ id, count }) => [id, count]));
  const lines = answers.map(({ answer_id, poll_media: { text, emoji } }) => {
    const words = [formatEmoji(emoji), text].filter(Boolean).join(' ');
    const count = answer_id === undefined ? undefined : counts.get(answer_id);
    // Discord omits the vote count of an answer without votes.
    const votes = results === undefined ? '' : ` (${count ?? 0} ${count === 1 ? 'vote' : 'votes'})`;
    return `- ${words}${votes}`;
  });
  const asked = [formatEmoji(question.emoji), question.text].filter(Boolean).join(' ');
  if (asked === '' && lines.length === 0) return '';
  return [
    `Poll: ${asked}`,
    ...lines,
    ...listPollDetails(poll, results?.is_finalized === true),
  ].join('\n');
}

function listPollDetails(
  { allow_multiselect, expiry }: Pick<WirePoll, 'allow_multiselect' | 'expiry'>,
  isClosed: boolean,
): string[] {
  const end = expiry === undefined ? undefined : formatDiscordTime(Date.parse(expiry));
  const facts = [
    ...(allow_multiselect === true ? ['several answers allowed'] : []),
    ...(isClosed ? ['closed'] : end === undefined ? [] : [`open until ${end}`]),
  ];
  return facts.length === 0 ? [] : [`(${facts.join('; ')})`];
}
