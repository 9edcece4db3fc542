/*
 * Models write names, paths, patterns and emoticons outside of code, although their special
 * characters would be parsed as markup. Such text is shown as written.
 */

/** A range of the source, in UTF-16 units. */
interface SourceRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Each range begins with a special character, or with the text before the first special character.
 */
const NAMES = new RegExp(
  [
    // Names in Python and JavaScript that would become bold text.
    /(?<![\p{L}\p{N}_\\])__(?:init|name|main|str|repr|dict|doc|file|all|call|len|eq|ne|lt|gt|hash|iter|next|enter|exit|new|del|class|slots|version|author|bases|module|path|package|annotations|import|getattr|setattr|getitem|setitem|delitem|contains|add|sub|mul|get|set|bool|int|float|await|aiter|anext|aenter|aexit|future|builtins|tests?|mocks?|fixtures|snapshots|pycache|proto|typename)__(?![\p{L}\p{N}_])/u,
    // Emoticons such as a shrug or two identical eyes.
    /¯\\_\(ツ\)_\/¯/u,
    /(?<![\p{L}\p{N}_*\\`])(?:([-^=><;.@'~"TtXxOoUuQq0$])_+\1|>_+<|o_O|O_o|\*\^_+\^\*)(?![\p{L}\p{N}_*`])/u,
    // Windows paths such as `C:\new\_old` or `\\server\share`.
    /(?<![\p{L}\p{N}\\])(?:[A-Za-z]:(?=\\)|%\w+%(?=\\)|\.{1,2}(?=\\)|HK[A-Z_]+(?=\\)|\\(?=\\\w[\w.$-]*\\\w))(?:\\(?!\\)[^\s`"'<>|]|[^\s`"'<>|\\*~()[\]]|\*(?=[\w.]))*(?:\\(?!\\)[^\s`"'<>|]|[^\s`"'<>|\\*~()[\]_.,;:!?])/u,
    // Glob patterns such as `**/*.js`.
    /(?<![\p{L}\p{N}*\\])(?:[\w.-]+\/)*\*\*\/[*{][\w.*{},/-]*/u,
    // C++ templates and placeholders that would become links, such as `<std::string>` and
    // `<host:port>`.
    /<[A-Za-z][\w-]*(?:::[^<>\s`]*|:[A-Za-z_][\w-]*)>/u,
    // Calls that would become links, such as `handlers[name](event)`.
    /(?<=[A-Za-z0-9_])\[[^\][\s`]{1,60}\]\((?![^)]*\.(?:md|html?|pdf|png|jpe?g|svg|txt)\))[\w.,'"=+*-]{0,60}\)/u,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gu',
);

/** The characters in a name that the parser would interpret. */
const SIGN = /[*_\\<[~]/;

/** Character classes and word boundaries in a regular expression. */
const CLASS = /\\[dwsbDWSB](?![A-Za-z])|\\b\w/;
/**
 * Next to these anchors, ranges, groups or repetitions, `\.` belongs to a regular expression too.
 */
const SYNTAX =
  /^['"(/]*\^|(?<!\\)\$['")/,.;]*$|\[\^?\w-\w|\(\?[:=!<]|(?<!\\)[.\])][*+](?!\*)|(?<!\\)\{\d+,?\d*\}/;
/**
 * A slash needs no backslash in prose, so an escaped slash belongs to a substitution, or to a URL
 * in a pattern or JSON.
 */
const SLASH = /(?<!\\)\\\//;
// A negated class such as `[^\]]`, or a substitution such as `s/\*/\_/g`.
const OTHER_PATTERN = /\[\^\\.[^\]]*\]|^['"]?(?:s|y|tr)\/[^/]+\/[^/]*\/[a-z]*['"]?[,.;]?$/;

function isPatternWord(word: string): boolean {
  if (CLASS.test(word) || SLASH.test(word) || OTHER_PATTERN.test(word)) return true;
  return word.includes('\\.') && SYNTAX.test(word);
}

/**
 * The ranges in which special characters are meant literally, each from its first such character.
 */
export function findLiteralSigns(markdown: string): readonly SourceRange[] {
  const found: SourceRange[] = [];
  for (const { index, 0: text } of markdown.matchAll(NAMES)) {
    found.push({ start: index + Math.max(0, text.search(SIGN)), end: index + text.length });
  }
  if (!markdown.includes('\\')) return found;
  for (const { index, 0: text } of markdown.matchAll(/[^\s`]+/g)) {
    const start = text.indexOf('\\');
    if (start < 0 || !isPatternWord(text)) continue;
    const marks = /^[*_]*/.exec(text)?.[0].length ?? 0;
    found.push({ start: index + start, end: index + text.length - marks });
  }
  return found;
}
