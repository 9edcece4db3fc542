/** A pair of signs around words, as Google Chat and WhatsApp read them. */
const PAIR = /(?<=^|[\s\p{P}])([*_~])(?!\s)([^\n]*?\S)\1(?=$|[\s\p{P}])/gu;

/**
 * What a reader sees of a text with `*bold*`, `_italic_`, `~struck~`, code and `<url|text>`: the
 * text without these signs.
 */
export function visibleChatText(text: string): string {
  return text
    .split(/```(?:\n)?/)
    .map((part, index) => (index % 2 === 1 ? part : withoutSigns(part)))
    .join('')
    .trim();
}

function withoutSigns(text: string): string {
  return text
    .split(/`([^`\n]+)`/)
    .map((part, index) => {
      if (index % 2 === 1) return part;
      const linked = part.replaceAll(/<[a-z]+:[^|>\s]+\|([^>]+)>/g, '$1');
      return withoutPairs(linked.replaceAll(/^> ?/gm, ''));
    })
    .join('');
}

function withoutPairs(text: string): string {
  const shorter = text.replaceAll(PAIR, '$2');
  return shorter === text ? text : withoutPairs(shorter);
}
