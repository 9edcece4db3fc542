import { emojiText } from './components.ts';
import { shownTime } from './mentions.ts';
import type { WirePoll } from './wire-message.ts';

/**
 * A poll as it is displayed: the question, the answers with their votes if Discord sends them, and
 * the closing time. Empty when it has neither question nor answers.
 */
export function pollText({ question, answers, results, ...poll }: WirePoll): string {
  const counts = new Map(results?.answer_counts.map(({ id, count }) => [id, count]));
  const lines = answers.map(({ answer_id, poll_media: { text, emoji } }) => {
    const words = [emojiText(emoji), text].filter(Boolean).join(' ');
    const count = answer_id === undefined ? undefined : counts.get(answer_id);
    // Discord omits the count of an answer without votes.
    const votes = results === undefined ? '' : ` (${count ?? 0} ${count === 1 ? 'vote' : 'votes'})`;
    return `- ${words}${votes}`;
  });
  const asked = [emojiText(question.emoji), question.text].filter(Boolean).join(' ');
  if (asked === '' && lines.length === 0) return '';
  return [`Poll: ${asked}`, ...lines, ...pollFacts(poll, results?.is_finalized === true)].join(
    '\n',
  );
}

function pollFacts(
  { allow_multiselect, expiry }: Pick<WirePoll, 'allow_multiselect' | 'expiry'>,
  isClosed: boolean,
): string[] {
  const end = expiry === undefined ? undefined : shownTime(Date.parse(expiry));
  const facts = [
    ...(allow_multiselect === true ? ['several answers allowed'] : []),
    ...(isClosed ? ['closed'] : end === undefined ? [] : [`open until ${end}`]),
  ];
  return facts.length === 0 ? [] : [`(${facts.join('; ')})`];
}
