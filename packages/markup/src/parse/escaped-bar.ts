import type { Construct, TreeExtension } from './syntax.ts';

declare module 'micromark-util-types' {
  interface TokenTypeMap {
    escapedBar: 'escapedBar';
  }
}

const BAR = 124;

/** `\|` in text: a bar that hides nothing. The parser knows that it is escaped, the tree would not. */
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

/** What an escaped bar becomes in the tree: text that is shown as it is. */
export const escapedBarTree: TreeExtension = {
  enter: {
    escapedBar(token) {
      this.enter({ type: 'maths', value: '|' }, token);
    },
  },
  exit: {
    escapedBar(token) {
      this.exit(token);
    },
  },
};
