import { Failures } from './failures.ts';
import { type Code, type Construct, endsLine, type State } from './syntax.ts';

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
      const isInWord = isWord(this.previous) || this.previous === DOLLAR;
      let size = 0;
      let run = 0;
      let last: Code = null;
      const begin: State = (code) => {
        if (isInWord) return nok(code);
        effects.enter('mathsText');
        return opening(code);
      };
      const opening = (code: Code): State | undefined => {
        if (code === DOLLAR) {
          size += 1;
          effects.consume(code);
          return opening;
        }
        if (size > 2 || (size === 1 && isSpace(code))) return nok(code);
        if (failures[size - 1]?.include(this)) return nok(code);
        return code === ASTERISK ? effects.check(twoAsterisks, nok, inside)(code) : inside(code);
      };
      const inside = (code: Code): State | undefined => {
        if (code === null || code === BACKTICK) {
          failures[size - 1]?.add(this);
          return nok(code);
        }
        if (code === DOLLAR) {
          run = 0;
          return closing(code);
        }
        last = code;
        effects.consume(code);
        return code === BACKSLASH ? escaped : inside;
      };
      const escaped: State = (code) => {
        if (endsLine(code) || code === BACKTICK) return inside(code);
        last = code;
        effects.consume(code);
        return inside;
      };
      const closing = (code: Code): State | undefined => {
        if (code === DOLLAR) {
          run += 1;
          effects.consume(code);
          return closing;
        }
        if (run !== size || isWord(code) || (size === 1 && isSpace(last))) {
          last = DOLLAR;
          return inside(code);
        }
        effects.exit('mathsText');
        return ok(code);
      };
      return begin;
    },
  };
}

/** In a price class such as `**$$**` the dollars open nothing. */
const twoAsterisks: Construct = {
  partial: true,
  tokenize(effects, ok, nok) {
    return (code) => {
      effects.enter('data');
      effects.consume(code);
      effects.exit('data');
      return (next) => (next === ASTERISK ? ok(next) : nok(next));
    };
  },
};

function isSpace(code: Code): boolean {
  return code === null || code < 0 || code === 32;
}

function isWord(code: Code): boolean {
  return code !== null && code > 0 && /[\p{L}\p{N}]/u.test(String.fromCharCode(code));
}
