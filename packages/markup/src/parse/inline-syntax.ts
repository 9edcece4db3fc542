import type { Literal } from 'mdast';
import type { Options } from 'mdast-util-from-markdown';
import { findLiteralSigns } from './literal-signs.ts';

/** New syntax for the parser: its constructs, by position and by the code that starts them. */
export type SyntaxExtension = Exclude<
  NonNullable<Options['extensions']>[number],
  readonly unknown[]
>;
/** The part of an extension that builds the tree. */
type TreeExtension = Exclude<NonNullable<Options['mdastExtensions']>[number], readonly unknown[]>;
/** One piece of syntax: a state machine that reads character codes. */
export type Construct = Exclude<
  NonNullable<NonNullable<SyntaxExtension['text']>[string]>,
  readonly unknown[]
>;
type Tokenizer = Construct['tokenize'];
/** The context of a state machine in the text. */
export type TokenizerContext = ThisParameterType<Tokenizer>;
export type TokenizerState = Parameters<Tokenizer>[1];
/** A UTF-16 unit; negative for tabs and line breaks, null at the end. */
type CharacterCode = Parameters<TokenizerState>[0];

/** Text that is shown exactly as written and not parsed any further. */
interface LiteralText extends Literal {
  type: 'literal';
}

declare module 'mdast' {
  interface PhrasingContentMap {
    literal: LiteralText;
  }
  interface RootContentMap {
    literal: LiteralText;
  }
}

/** Adds a literal token to the tree as text. */
function createLiteralExtension(
  token: 'maths' | 'escapedBar',
  shown: (source: string) => string,
): TreeExtension {
  return {
    enter: {
      [token](own) {
        this.enter({ type: 'literal', value: shown(this.sliceSerialize(own)) }, own);
      },
    },
    exit: {
      [token](own) {
        this.exit(own);
      },
    },
  };
}

/** Whether the code ends a line or the text. */
function isLineEnd(code: CharacterCode): code is null | -5 | -4 | -3 {
  return code === null || (code < -2 && code > -6);
}

const ASTERISK = 42;
/** The end of a phrase that models write in bold, such as `**Note:**`. */
const ENDS_PHRASE = /[.,:;!?%)\]"'”’»]/;
/** Chinese, Japanese and Korean letters, and the punctuation written with them. */
const CJK = /[\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe6f\uff00-\uffee]/;

/**
 * Emphasis with `*` as in CommonMark, but recognized in two further cases, and not where a literal
 * asterisk is intended. CommonMark assumes spaces between words: `**「注意」**文字` would show its
 * asterisks, and so would `**Note:**text`; and `2*3*4`, `x**2 + y**2` or `src/*.ts, lib/*.js` would
 * lose theirs.
 */
export const emphasis: Construct = {
  name: 'emphasis',
  tokenize(effects, ok, nok) {
    const { previous } = this;
    return effects.attempt(
      getDefaultEmphasisConstruct(this),
      (code) => {
        const token = this.events.at(-1)?.[1];
        if (token !== undefined) {
          const length = token.end.offset - token.start.offset;
          const flanked = { before: toCharacter(previous), after: toCharacter(code) };
          token._open =
            (token._open || canOpenEmphasis(flanked)) && !isOperatorSign(flanked, length);
          token._close =
            (token._close || canCloseEmphasis(flanked, length)) && !isInsideWord(flanked, length);
        }
        return ok(code);
      },
      nok,
    );
  },
  resolveAll: (events, context) =>
    getDefaultEmphasisConstruct(context).resolveAll?.(events, context) ?? events,
};

interface FlankingCharacters {
  readonly before: string;
  readonly after: string;
}

/** Whether `*` opens where it would not in CommonMark. */
function canOpenEmphasis({ before, after }: FlankingCharacters): boolean {
  return after.trim() !== '' && CJK.test(before + after);
}

/** Whether `*` closes where it would not in CommonMark. */
function canCloseEmphasis({ before, after }: FlankingCharacters, length: number): boolean {
  if (before.trim() === '') return false;
  if (CJK.test(before + after)) return true;
  return length === 2 && ENDS_PHRASE.test(before) && /[\p{L}\p{N}]/u.test(after);
}

/**
 * Whether `*` is in a position where no phrase begins: between a letter, number or bracket and
 * another such character, as in `5*3 cm` and `(a)*(b)`, or before characters that end phrases, as
 * in `*.ts`.
 */
function isOperatorSign({ before, after }: FlankingCharacters, length: number): boolean {
  if (CJK.test(before + after)) return false;
  if (isQuotedSign({ before, after })) return true;
  const isWithin = /[\p{L}\p{N})\]}]/u.test(before) && /[\p{L}\p{N}([{]/u.test(after);
  // A masked password is written as `****, then`; emphasis never has that many asterisks.
  if (length > 3 && !/[\p{L}\p{N}]/u.test(after)) return true;
  // `un**believ**able` is bold, `2**8` and `f(x)**2` are not.
  if (length !== 1) return isWithin && /\p{N}/u.test(before + after);
  return isWithin || /[.,/;:=)\]}]/.test(after);
}

/**
 * Whether `*` is between letters or numbers, where no phrase ends: `**2*3**` is bold as a whole.
 */
function isInsideWord({ before, after }: FlankingCharacters, length: number): boolean {
  if (CJK.test(before + after)) return false;
  if (isQuotedSign({ before, after })) return true;
  const isWithin = /^[\p{L}\p{N}]{2}$/u.test(before + after);
  return isWithin && (length === 1 || /\p{N}/u.test(before + after));
}

/** Whether `*` is meant literally, alone in quotation marks or brackets: `'*'`, `count(*)`. */
function isQuotedSign({ before, after }: FlankingCharacters): boolean {
  return /^(?:''|""|‘’|“”|\(\)|\[\])$/.test(before + after);
}

/** A line break and the beginning or end of the text count as a space, as in CommonMark. */
function toCharacter(code: CharacterCode): string {
  return isLineEnd(code) || code < 0 ? ' ' : String.fromCharCode(code);
}

/** The parser's own construct for emphasis. */
function getDefaultEmphasisConstruct({ parser }: TokenizerContext): Construct {
  const constructs = [parser.constructs.text[ASTERISK] ?? []].flat();
  const own = constructs.find(({ name }) => name === 'attention');
  if (own === undefined) throw new Error('The Markdown parser has no emphasis.');
  return own;
}

declare module 'micromark-util-types' {
  interface TokenTypeMap {
    escapedBar: 'escapedBar';
  }
}

const BAR = 124;

/**
 * `\|` in text is a bar that does not start a spoiler. The tree would otherwise not show that the
 * bar was escaped.
 */
export const escapedBar: Construct = {
  tokenize(effects, ok, nok) {
    return (backslash) => {
      effects.enter('escapedBar');
      effects.consume(backslash);
      return (code) => {
        if (code !== BAR) return nok(code);
        effects.consume(code);
        effects.exit('escapedBar');
        return ok;
      };
    };
  },
};

/**
 * `&` is text, so that `&lt;` is shown as written: a model that explains HTML means those
 * characters. In a URL, which is not text, character references count as in CommonMark:
 * `?a=1&amp;b=2`.
 */
export const ampersand: Construct = {
  tokenize(effects, ok) {
    return (code) => {
      effects.enter('data');
      effects.consume(code);
      effects.exit('data');
      return ok;
    };
  },
};

/** The tree extension for an escaped bar. */
export const escapedBarTree: TreeExtension = createLiteralExtension('escapedBar', () => '|');

/**
 * GFM's own syntax searches for email addresses at every word, which takes a quarter of the time.
 * This syntax is the same, without the search in text that contains no `@`.
 */
export function createQuickAutolinkSyntax(
  gfm: SyntaxExtension,
): (markdown: string) => SyntaxExtension {
  const text: Record<string, Construct[]> = {};
  for (const [code, constructs] of Object.entries(gfm.text ?? {})) {
    text[code] = [constructs ?? []].flat().filter(({ name }) => name !== 'emailAutolink');
  }
  const withoutEmail = { ...gfm, text };
  return (markdown) => (markdown.includes('@') ? gfm : withoutEmail);
}

/*
 * Math becomes literal text, so that its characters are not parsed as markup: most chats show
 * formulas as written. A dialect that renders formulas has a mark for them.
 */

/**
 * `$…$` follows pandoc's rule, so that prices stay prose; `$$…$$` may have spaces at its ends;
 * `\(…\)` and `\[…\]` are math too.
 */
const MATHS = new RegExp(
  [
    /(?<![\p{L}\p{N}$\\])\$(?![\s$]|\*\*)(?:\\[^`]|(?!\n\s*\n)[^$`\\])+(?<!\s)\$(?![\p{L}\p{N}$])/u,
    /(?<![\p{L}\p{N}$\\])\$\$(?!\$|\*\*)(?:\\[^`]|(?!\n\s*\n)[^$`\\])+\$\$(?![\p{L}\p{N}$])/u,
    /(?<!\\)\\\((?:\\[^(`)]|(?!\n\s*\n)[^\\`])*\\\)/u,
    /(?<!\\)\\\[(?:\\[^[`\]]|(?!\n\s*\n)[^\\`])*\\\](?!\()/u,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gu',
);

/** Escaped brackets are not math if they contain words, a number, or the `x` of a checkbox. */
const PROSE = /^\\(?:\[\s*\p{L}\s*|.(?=[\s\S]*\p{L}{2}|\P{L}*$)[\p{L}\p{N}\s.,:;!?'’-]*)\\.$/u;

declare module 'micromark-util-types' {
  interface TokenTypeMap {
    maths: 'maths';
    mathsLine: 'mathsLine';
  }
}

/** The syntax of the math in this Markdown, and of the ranges returned by `findLiteralSigns`. */
export function createMathsSyntax(markdown: string): Construct {
  const ends = new Map<number, number>();
  for (const { index, 0: text } of markdown.matchAll(MATHS)) {
    if (!PROSE.test(text)) ends.set(index, index + text.length);
  }
  for (const { start, end } of findLiteralSigns(markdown)) ends.set(start, end);
  return {
    name: 'maths',
    tokenize(effects, ok, nok) {
      const end = ends.get(this.now().offset);
      if (end === undefined) return nok;
      let inLine = false;
      const exitLine = () => {
        if (inLine) effects.exit('mathsLine');
        inLine = false;
      };
      const inside: TokenizerState = (code) => {
        if (this.now().offset >= end) {
          exitLine();
          effects.exit('maths');
          return ok(code);
        }
        if (code === null) return nok(code);
        const isEnd = isLineEnd(code);
        if (isEnd) exitLine();
        if (isEnd) effects.enter('lineEnding');
        else if (!inLine) effects.enter('mathsLine');
        inLine = !isEnd;
        effects.consume(code);
        if (isEnd) effects.exit('lineEnding');
        return inside;
      };
      effects.enter('maths');
      return inside;
    },
  };
}

/** The tree extension for math. */
export const mathsTree: TreeExtension = createLiteralExtension('maths', (source) => source);
