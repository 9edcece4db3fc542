import type { LiveKind } from './markdown-node.ts';
import type { Rule } from './markdown-rule.ts';

/** Read before marks and quotes: a custom emoji. */
const FIRST: readonly (readonly [LiveKind, RegExp])[] = [['emoji', /<a?:\w+:\d+>/y]];

const COMMAND_NAME = String.raw`[-_\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}`;

/** Read after marks and links. */
const LAST: readonly (readonly [LiveKind, RegExp])[] = [
  ['time', /<t:-?\d{1,17}(?::[tTdDfFRsS])?>/y],
  ['user', /<@!?\d+>/y],
  ['role', /<@&\d+>/y],
  ['channel', /<#\d+>/y],
  ['everyone', /@everyone/y],
  ['here', /@here/y],
  ['command', new RegExp(`</${COMMAND_NAME}(?: ${COMMAND_NAME}){0,2}:\\d+>`, 'uy')],
  ['route', /<id:(?:home|guide|browse|customize|linked-roles)(?::\d+)?>/y],
  ['sound', /<sound:(?:\d+:)?\d+>/y],
  // The client makes pictures of the names it knows, whoever wrote them; which it knows changes, so
  // here everything counts that could be a name: lower case, with a letter, or one of few numbers.
  ['shortcode', /:(?:[a-z0-9_+-]*[a-zñ][a-z0-9_+ñ-]*|[+-]1|100|1234)(?:::skin-tone-\d)?:/y],
];

/** `<:emoji:1>`. */
export const readCustomEmoji: Rule = (source, at) => readOneOf(FIRST, source, at);

/** Mentions, times, commands and what else the client fills in. */
export const readLive: Rule = (source, at, { before, onlyMarks }) => {
  if (onlyMarks) return readOneOf(LAST.slice(0, 1), source, at);
  if (before === '' && /^@silent(?!\S)/.test(source.slice(at, at + 8))) {
    return { end: at + 7, nodes: [{ type: 'live', kind: 'silent', text: '@silent' }] };
  }
  return readOneOf(LAST, source, at);
};

function readOneOf(rules: readonly (readonly [LiveKind, RegExp])[], source: string, at: number) {
  for (const [kind, pattern] of rules) {
    pattern.lastIndex = at;
    const text = pattern.exec(source)?.[0];
    if (text !== undefined) {
      return { end: at + text.length, nodes: [{ type: 'live', kind, text } as const] };
    }
  }
  return undefined;
}
