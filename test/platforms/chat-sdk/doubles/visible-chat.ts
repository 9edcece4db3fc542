/** A pair of delimiters around words, as Google Chat and WhatsApp read them. */
const PAIR = /(?<=^|[\s\p{P}])([*_~])(?!\s)([^\n]*?\S)\1(?=$|[\s\p{P}])/gu;

/**
 * The visible text of a message with `*bold*`, `_italic_`, `~struck~`, code and `<url|text>`,
 * without the delimiters.
 */
export function toVisibleChatText(text: string): string {
  return text
    .split(/```(?:\n)?/)
    .map((part, index) => (index % 2 === 1 ? part : removeSigns(part)))
    .join('')
    .trim();
}

function removeSigns(text: string): string {
  return text
    .split(/`([^`\n]+)`/)
    .map((part, index) => {
      if (index % 2 === 1) return part;
      const linked = part.replaceAll(/<[a-z]+:[^|>\s]+\|([^>]+)>/g, '$1');
      return removePairs(linked.replaceAll(/^> ?/gm, ''));
    })
    .join('');
}

function removePairs(text: string): string {
  const shorter = text.replaceAll(PAIR, '$2');
  return shorter === text ? text : removePairs(shorter);
}
