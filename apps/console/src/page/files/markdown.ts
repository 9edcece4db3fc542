import { StreamLanguage, type StreamParser } from '@codemirror/language';
import { EditorView } from '@codemirror/view';

/** The parser's state at the beginning of a line. */
interface ParserState {
  /** `front` is the front matter at the top of the file, between two lines with ---. */
  within: 'top' | 'front' | 'text' | 'code' | 'comment';
}

/**
 * Parses just enough Markdown to color a prompt file line by line: front matter, headings, lists,
 * code, emphasis and comments.
 */
const PARSER: StreamParser<ParserState> = {
  name: 'markdown',
  startState: () => ({ within: 'top' }),
  token(stream, place) {
    if (place.within === 'comment') return consumeComment(stream, place);
    if (stream.sol()) {
      const line = readLineToken(stream, place);
      if (line !== undefined) return line;
    }
    if (stream.match('<!--')) return consumeComment(stream, place);
    if (stream.match(/^`[^`]+`/)) return 'monospace';
    if (stream.match(/^(\*\*|__)\S.*?\1/)) return 'strong';
    if (stream.match(/^([*_])[^\s*_][^*_]*\1/)) return 'emphasis';
    if (stream.match(/^\[[^\]]*\]\([^)]*\)/)) return 'link';
    stream.next();
    stream.eatWhile(/[^`*_[<]/);
    return null;
  },
};

type Stream = Parameters<typeof PARSER.token>[0];

function consumeComment(stream: Stream, place: ParserState): string {
  place.within = 'comment';
  if (stream.skipTo('-->')) {
    stream.match('-->');
    place.within = 'text';
  } else stream.skipToEnd();
  return 'comment';
}

/** The token type of a line, recognized by its beginning; undefined for plain text. */
function readLineToken(stream: Stream, place: ParserState): string | undefined {
  const isRule = stream.match(/^---\s*$/, false) !== null;
  if (place.within === 'top') place.within = isRule ? 'front' : 'text';
  else if (place.within === 'front' && isRule) {
    place.within = 'text';
    stream.skipToEnd();
    return 'meta';
  }
  const isFence = stream.match(/^\s*(?:```|~~~)/, false) !== null;
  if (place.within === 'front' || place.within === 'code' || isFence) {
    const look = place.within === 'front' ? 'meta' : 'monospace';
    if (isFence && place.within !== 'front')
      place.within = place.within === 'code' ? 'text' : 'code';
    stream.skipToEnd();
    return look;
  }
  if (stream.match(/^#{1,6}\s/, false)) {
    stream.skipToEnd();
    return 'heading';
  }
  return stream.match(/^\s*(?:[-*+]|\d{1,3}[.)])\s/) || stream.match(/^>\s?/) ? 'list' : undefined;
}

/** Markdown for the editor, in which each line is a paragraph. */
export const MARKDOWN = [StreamLanguage.define(PARSER), EditorView.lineWrapping];
