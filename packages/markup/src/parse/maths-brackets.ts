import { Failures } from './failures.ts';
import { type Code, type Construct, endsLine, type State } from './syntax.ts';

const OPENING_BRACKET = 40;
const CLOSING_BRACKET = 41;
const BACKSLASH = 92;
const BACKTICK = 96;

/** `\(…\)`. */
export function bracketMaths(): Construct {
  const failures = new Failures();
  return {
    name: 'bracketMaths',
    tokenize(effects, ok, nok) {
      const begin: State = (code) => {
        if (failures.include(this)) return nok(code);
        effects.enter('mathsText');
        effects.consume(code);
        return (next) => (next === OPENING_BRACKET ? inside(next) : nok(next));
      };
      const inside = (code: Code): State | undefined => {
        if (code === null || code === BACKTICK) {
          failures.add(this);
          return nok(code);
        }
        effects.consume(code);
        return code === BACKSLASH ? escaped : inside;
      };
      const escaped: State = (code) => {
        if (endsLine(code) || code === BACKTICK) return inside(code);
        effects.consume(code);
        if (code !== CLOSING_BRACKET) return inside;
        effects.exit('mathsText');
        return ok;
      };
      return begin;
    },
  };
}
