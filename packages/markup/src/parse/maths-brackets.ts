import { Failures } from './failures.ts';
import { type Construct, endsLine, type Next } from './syntax.ts';
import { TextToken } from './text-token.ts';

const OPENING_BRACKET = 40;
const CLOSING_BRACKET = 41;
const BACKSLASH = 92;
const BACKTICK = 96;

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
