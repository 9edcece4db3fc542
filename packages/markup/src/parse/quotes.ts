import type {
  Construct,
  SyntaxExtension,
  TokenizerContext,
  TokenizerState,
} from './inline-syntax.ts';

/**
 * A `>` at the start of a line or list item that does not start a quote: `>50%`, `>= 18`, `- > 90
 * points`, and the Python prompt.
 */
const NO_QUOTE =
  /^(?:[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?=>=|>[$€£]?\d|>>> (?:[\d'"([{]|[\w.]+(?:[([]| ?=)|(?:import|from|def|class|for|while|if|with) ))|^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?=> [$€£]?\d+(?:[.,]\d+)*(?![.,)\d]))/gm;

const GREATER = 62;
/** Matches spaces and tabs; a tab is one code followed by virtual spaces. */
const SPACES: ReadonlySet<number | null> = new Set([32, -1, -2]);
/** More leading spaces would start a code block. */
const MAX_SPACES = 3;

/**
 * Block quotes, except for a `>` that is a comparison or a prompt; undefined when the text contains
 * no such `>`.
 */
export function createQuoteSyntax(markdown: string): SyntaxExtension {
  if (!markdown.includes('>')) return {};
  const others = new Set<number>();
  for (const { index, 0: text } of markdown.matchAll(NO_QUOTE)) others.add(index + text.length);
  if (others.size === 0) return {};
  const quote: Construct = {
    name: 'quote',
    tokenize(effects, ok, nok) {
      if (others.has(this.now().offset)) return nok;
      return getDefaultQuoteConstruct(this).tokenize.call(this, effects, ok, nok);
    },
    continuation: {
      tokenize(effects, ok, nok) {
        const again = effects.attempt(quote, ok, nok);
        let spaces = 0;
        const indent: TokenizerState = (code) => {
          if (SPACES.has(code) && spaces < MAX_SPACES) {
            spaces += 1;
            effects.consume(code);
            return indent;
          }
          effects.exit('linePrefix');
          return again(code);
        };
        return (code) => {
          if (!SPACES.has(code)) return again(code);
          effects.enter('linePrefix');
          return indent(code);
        };
      },
    },
    exit(effects) {
      effects.exit('blockQuote');
    },
  };
  return { document: { [GREATER]: quote }, disable: { null: ['blockQuote'] } };
}

/** The parser's own construct for block quotes. */
function getDefaultQuoteConstruct({ parser }: TokenizerContext): Construct {
  const constructs = [parser.constructs.document[GREATER] ?? []].flat();
  const own = constructs.find(({ name }) => name === 'blockQuote');
  if (own === undefined) throw new Error('The Markdown parser has no block quotes.');
  return own;
}
