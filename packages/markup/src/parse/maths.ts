import type { Literal } from 'mdast';
import { closesMaths, type MathsOpening, mathsContent, openMaths } from './fences.ts';
import {
  type Code,
  type Construct,
  type Context,
  type Effects,
  endsLine,
  type Next,
  type TreeExtension,
} from './inline-syntax.ts';

/** Reads a line end, if the next line belongs to the same list items and quotes and to the block. */
function lineEnd(until: MathsOpening['until']): Construct {
  return {
    partial: true,
    tokenize(effects, ok, nok) {
      const nextLine: Next = (code) => {
        const isOutside = this.parser.lazy[this.now().line] === true;
        return isOutside || (until === 'empty line' && endsLine(code)) ? nok(code) : ok(code);
      };
      return (code) => {
        if (code === null) return nok(code);
        effects.enter('lineEnding');
        effects.consume(code);
        effects.exit('lineEnding');
        return nextLine;
      };
    },
  };
}

/** Whether dollars here would rather close maths that began inside the paragraph's text. */
function closesInText(context: Context, here: ReturnType<Context['now']>): boolean {
  const begin = context.events.findLast(([, { type }]) => type === 'content')?.[1].start;
  if (begin === undefined) return false;
  const paragraph = context.sliceSerialize({ start: begin, end: here });
  return paragraph.split('$$').length % 2 === 0;
}

/** Blocks of maths, `$$ … $$` and `\[ … \]`. Line by line, since whole lines decide. */
export const mathsBlock: Construct = {
  name: 'mathsBlock',
  // No list or quote begins in it.
  concrete: true,
  tokenize(effects, ok, nok) {
    let opening: MathsOpening | undefined;
    const start = this.now();
    const begin: Next = (code) => {
      effects.enter('mathsBlock');
      return beginLine(code);
    };
    const beginLine: Next = (code) => {
      if (endsLine(code)) return endLine('', code);
      effects.enter('mathsLine');
      return inLine(code);
    };
    const inLine: Next = (code) => {
      if (endsLine(code)) return endLine(this.sliceSerialize(effects.exit('mathsLine')), code);
      effects.consume(code);
      return inLine;
    };
    const endLine = (line: string, code: Code): ReturnType<Next> => {
      const isFirst = opening === undefined;
      opening ??= openMaths(line);
      if (opening === undefined) return nok(code);
      if (this.interrupt) {
        return opening.closing === '$$' && closesInText(this, start) ? nok(code) : ok(code);
      }
      const closed = isFirst ? opening.until === 'here' : closesMaths(line, opening.closing);
      return closed ? end(code) : effects.attempt(lineEnd(opening.until), beginLine, end)(code);
    };
    const end: Next = (code) => {
      effects.exit('mathsBlock');
      return ok(code);
    };
    return begin;
  },
};

const OPENING_BRACKET = 40;
const CLOSING_BRACKET = 41;

/** `\(…\)`; without an end the brackets are escaped ones. */
export function bracketMaths(): Construct {
  const failures = new Failures();
  return {
    name: 'bracketMaths',
    tokenize(effects, ok, nok) {
      if (failures.include(this)) return nok;
      const token = new TextToken(effects);
      const begin: Next = (code) => {
        token.consume(code);
        return (next) => (next === OPENING_BRACKET ? inside(next) : nok(next));
      };
      const inside: Next = (code) => {
        if (code === null || code === BACKTICK) {
          failures.add(this);
          return nok(code);
        }
        token.consume(code);
        return code === BACKSLASH ? escaped : inside;
      };
      const escaped: Next = (code) => {
        if (endsLine(code) || code === BACKTICK) return inside(code);
        token.consume(code);
        if (code !== CLOSING_BRACKET) return inside;
        token.end();
        return ok;
      };
      return begin;
    },
  };
}

const DOLLAR = 36;
const ASTERISK = 42;
const BACKSLASH = 92;
const BACKTICK = 96;

/**
 * `$…$` by pandoc's rule, so that prices stay prose: it touches what it holds and stands free of
 * letters and digits outside. `$$…$$` may hold spaces at its ends.
 */
export function dollarMaths(): Construct {
  const failures = [new Failures(), new Failures()] as const;
  return {
    name: 'dollarMaths',
    tokenize(effects, ok, nok) {
      if (isWord(this.previous) || this.previous === DOLLAR) return nok;
      const token = new TextToken(effects);
      let size = 0;
      let run = 0;
      let last: Code = null;
      let mayClose = false;
      const read = (code: Code, next: Next): Next => {
        last = code;
        token.consume(code);
        return next;
      };
      const opening: Next = (code) => {
        if (code === DOLLAR) {
          size += 1;
          return read(code, opening);
        }
        const failed = failures[size - 1]?.include(this) ?? true;
        if (failed || (size === 1 && isSpace(code))) return nok(code);
        return code === ASTERISK ? read(code, afterAsterisk) : inside(code);
      };
      // A price class in bold, such as `**$$**`, opens nothing.
      const afterAsterisk: Next = (code) => (code === ASTERISK ? nok(code) : inside(code));
      const inside: Next = (code) => {
        if (code === null || code === BACKTICK) {
          failures[size - 1]?.add(this);
          return nok(code);
        }
        if (code !== DOLLAR) return read(code, code === BACKSLASH ? escaped : inside);
        mayClose = size === 2 || !isSpace(last);
        run = 0;
        return closing(code);
      };
      const escaped: Next = (code) =>
        endsLine(code) || code === BACKTICK ? inside(code) : read(code, inside);
      const closing: Next = (code) => {
        if (code === DOLLAR) {
          run += 1;
          return read(code, closing);
        }
        if (!mayClose || run !== size || isWord(code)) return inside(code);
        token.end();
        return ok(code);
      };
      return opening;
    },
  };
}

function isSpace(code: Code): boolean {
  return code === null || code < 0 || code === 32;
}

function isWord(code: Code): boolean {
  return code !== null && code > 0 && /[\p{L}\p{N}]/u.test(String.fromCharCode(code));
}

/**
 * How far a text was searched for an end in vain. What begins before that place finds none either:
 * without this, a text of openings alone would be read again from each.
 */
class Failures {
  readonly #searched = new WeakMap<Context, number>();

  add(context: Context): void {
    this.#searched.set(context, context.now().offset);
  }

  include(context: Context): boolean {
    return context.now().offset < (this.#searched.get(context) ?? 0);
  }
}

/** Writes one token of text that may go over several lines; the parser wants each line end as a token. */
class TextToken {
  readonly #effects: Effects;
  #inLine = false;

  constructor(effects: Effects) {
    this.#effects = effects;
    effects.enter('mathsText');
  }

  consume(code: Code): void {
    if (endsLine(code)) {
      this.#endLine();
      this.#effects.enter('lineEnding');
      this.#effects.consume(code);
      this.#effects.exit('lineEnding');
      return;
    }
    if (!this.#inLine) this.#effects.enter('mathsTextLine');
    this.#inLine = true;
    this.#effects.consume(code);
  }

  end(): void {
    this.#endLine();
    this.#effects.exit('mathsText');
  }

  #endLine(): void {
    if (this.#inLine) this.#effects.exit('mathsTextLine');
    this.#inLine = false;
  }
}

/** Maths inside text, to be shown as it is. */
interface Maths extends Literal {
  type: 'maths';
}

declare module 'mdast' {
  interface PhrasingContentMap {
    maths: Maths;
  }
  interface RootContentMap {
    maths: Maths;
  }
}
declare module 'micromark-util-types' {
  interface TokenTypeMap {
    mathsBlock: 'mathsBlock';
    mathsLine: 'mathsLine';
    mathsText: 'mathsText';
    mathsTextLine: 'mathsTextLine';
  }
}

/** What maths becomes in the tree: a block is code; in text dollars stay and of `\(…\)` the brackets. */
export const mathsTree: TreeExtension = {
  enter: {
    mathsBlock(token) {
      const value = mathsContent(this.sliceSerialize(token));
      this.enter({ type: 'code', lang: 'latex', meta: null, value }, token);
    },
    mathsText(token) {
      const source = this.sliceSerialize(token);
      const isDollars = source.startsWith('$');
      this.enter({ type: 'maths', value: isDollars ? source : `${source.slice(1, -2)})` }, token);
    },
  },
  exit: {
    mathsBlock(token) {
      this.exit(token);
    },
    mathsText(token) {
      this.exit(token);
    },
  },
};
