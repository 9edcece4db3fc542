import { Failures } from './failures.ts';
import { type Code, type Construct, endsLine, type Next } from './syntax.ts';
import { TextToken } from './text-token.ts';

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
