import type { Literal } from 'mdast';
import { mathsContent } from './maths-lines.ts';
import type { TreeExtension } from './syntax.ts';

/** Maths inside text, to be shown as it is. */
export interface Maths extends Literal {
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
