import { isVisible } from './silent-token.ts';

const TAG = /\[\[[ \t]*reply_to(?:_current|[ \t]*:[ \t]*([^[\]\n]{1,200}?))[ \t]*\]\][ \t]*/gi;

/** A tag is over by then, so that a list of lists is not held back for long. In characters. */
const LONGEST_TAG = 260;

/** What a tag asks to be shown: the message that is answered, or another one. */
export type AskedQuote =
  | { readonly kind: 'current' }
  | { readonly kind: 'message'; readonly id: string };

/** Text without its reply tags, and those of them that stood before everything that is seen (G10). */
export interface WithoutTags {
  readonly text: string;
  /** In the order of the text. */
  readonly asked: readonly AskedQuote[];
}

/**
 * Takes all tags out. Only those at the beginning ask for something: what was streamed stands below its
 * message already when a later one comes.
 */
export function withoutTags(text: string): WithoutTags {
  if (!text.includes('[[')) return { text, asked: [] };
  const tags = [...text.matchAll(TAG)];
  const first = tags.filter(({ index }) => !isVisible(text.slice(0, index).replace(TAG, '')));
  return {
    text: text.replace(TAG, ''),
    asked: first.map(([, id]) =>
      id === undefined ? { kind: 'current' } : { kind: 'message', id },
    ),
  };
}

/** Where something begins that may become a tag, or the length of the text. */
export function openTagAt(text: string): number {
  for (let at = text.indexOf('[['); at !== -1; at = text.indexOf('[[', at + 1)) {
    const rest = text.slice(at, at + LONGEST_TAG);
    if (rest.length < LONGEST_TAG && !/\]\]|\n/.test(rest)) return at;
  }
  return text.length;
}
