import { closesMaths, type MathsOpening, openMaths } from './maths-lines.ts';
import { type Code, type Construct, type Context, endsLine, type Next } from './syntax.ts';

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
