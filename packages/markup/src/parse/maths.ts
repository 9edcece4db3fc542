import {
  type Construct,
  endsLine,
  literal,
  type Next,
  type TreeExtension,
} from './inline-syntax.ts';

/*
 * Maths is shown as it is written, since no chat draws it: it becomes literal text, so that its signs
 * are no marks.
 */

/** `$…$` by pandoc's rule, so that prices stay prose; `$$…$$`, which may hold spaces at its ends; `\(…\)`; `\[…\]`. */
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

/** Brackets that are escaped: words in them, a number, the `x` of a box. */
const PROSE = /^\\(?:\[\s*\p{L}\s*|.(?=[\s\S]*\p{L}{2}|\P{L}*$)[\p{L}\p{N}\s.,:;!?'’-]*)\\.$/u;

declare module 'micromark-util-types' {
  interface TokenTypeMap {
    maths: 'maths';
    mathsLine: 'mathsLine';
  }
}

/** The maths in the text of this Markdown, as syntax. */
export function mathsIn(markdown: string): Construct {
  const ends = new Map<number, number>();
  for (const { index, 0: text } of markdown.matchAll(MATHS)) {
    if (!PROSE.test(text)) ends.set(index, index + text.length);
  }
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
      const inside: Next = (code) => {
        if (this.now().offset >= end) {
          exitLine();
          effects.exit('maths');
          return ok(code);
        }
        if (code === null) return nok(code);
        const isEnd = endsLine(code);
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

/** What maths becomes in the tree. */
export const mathsTree: TreeExtension = literal('maths', (source) => source);
