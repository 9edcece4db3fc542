import { type Code, type Construct, type Context, endsLine } from './syntax.ts';

const ASTERISK = 42;
/** What ends a phrase that models write bold, such as `**Note:**`. */
const ENDS_PHRASE = /[.,:;!?%)\]"'”’»]/;
/** Chinese, Japanese and Korean letters, and the punctuation written with them. */
const CJK = /[\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe6f\uff00-\uffee]/;

/**
 * Emphasis with `*` as CommonMark has it, and in two cases more. Its rules take spaces between words
 * for granted: `**「注意」**文字` would show its asterisks, and so would `**Note:**text`.
 */
export const emphasis: Construct = {
  name: 'emphasis',
  tokenize(effects, ok, nok) {
    const { previous } = this;
    return effects.attempt(
      ownEmphasis(this),
      (code) => {
        const token = this.events.at(-1)?.[1];
        if (token !== undefined) {
          const length = token.end.offset - token.start.offset;
          const flanked = { before: characterOf(previous), after: characterOf(code) };
          token._open ||= mayOpen(flanked);
          token._close ||= mayClose(flanked, length);
        }
        return ok(code);
      },
      nok,
    );
  },
  resolveAll: (events, context) => ownEmphasis(context).resolveAll?.(events, context) ?? events,
};

/** The characters on both sides of a run of `*`. */
export interface Flanked {
  readonly before: string;
  readonly after: string;
}

/** Whether `*` opens where it would not in CommonMark. */
export function mayOpen({ before, after }: Flanked): boolean {
  return after.trim() !== '' && CJK.test(before + after);
}

/** Whether `*` closes where it would not in CommonMark. */
export function mayClose({ before, after }: Flanked, length: number): boolean {
  if (before.trim() === '') return false;
  if (CJK.test(before + after)) return true;
  return length === 2 && ENDS_PHRASE.test(before) && /[\p{L}\p{N}]/u.test(after);
}

/** A line end and the beginning or end of the text count as a space, as in CommonMark. */
function characterOf(code: Code): string {
  return endsLine(code) || code < 0 ? ' ' : String.fromCharCode(code);
}

/** The parser's own construct for emphasis. */
function ownEmphasis({ parser }: Context): Construct {
  const constructs = [parser.constructs.text[ASTERISK] ?? []].flat();
  const own = constructs.find(({ name }) => name === 'attention');
  if (own === undefined) throw new Error('The Markdown parser has no emphasis.');
  return own;
}
