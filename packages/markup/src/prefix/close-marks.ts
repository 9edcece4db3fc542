/** Longer paragraphs stay as they are, in characters: nobody follows their marks while they grow. */
const MAX_LENGTH = 8_000;

interface OpenMark {
  readonly mark: string;
  /** Where its text begins in the output. */
  readonly from: number;
}

/** Where reading goes on and what has been written so far. */
interface State {
  at: number;
  out: string;
  readonly open: OpenMark[];
}

/**
 * Closes what is open at the end of one paragraph of Markdown. Reads once from left to right; where
 * Markdown's own rules are subtler, the worst outcome is a visible asterisk until the next update.
 */
export function closeMarks(paragraph: string): string {
  if (paragraph.length > MAX_LENGTH) return paragraph;
  const text = paragraph.trimEnd();
  const state: State = { at: 0, out: '', open: [] };
  while (state.at < text.length) {
    const character = text[state.at] ?? '';
    if (character === '\\') take(text, state, 2);
    else if (character === '`') readCode(text, state);
    else if (character === '*' || character === '_' || character === '~') readMark(text, state);
    else if (character === ']') readLinkEnd(text, state);
    else {
      if (character === '[') state.open.push({ mark: '[', from: state.out.length });
      take(text, state, 1);
    }
  }
  return closeAll(state);
}

function take(text: string, state: State, length: number): void {
  state.out += text.slice(state.at, state.at + length);
  state.at += length;
}

function readCode(text: string, state: State): void {
  const run = runAt(text, state.at);
  let end = text.indexOf(run, state.at + run.length);
  while (end >= 0 && runAt(text, end) !== run)
    end = text.indexOf(run, end + runAt(text, end).length);
  if (end >= 0) {
    take(text, state, end + run.length - state.at);
    return;
  }
  const code = text.slice(state.at + run.length);
  if (code.trim() !== '') state.out += run + code + run;
  state.at = text.length;
}

function readMark(text: string, state: State): void {
  const run = runAt(text, state.at);
  const before = text[state.at - 1] ?? ' ';
  const after = text[state.at + run.length] ?? ' ';
  const inWord = run.startsWith('_') && isWord(before) && isWord(after);
  const isMark = !inWord && (!run.startsWith('~') || run.length === 2);
  const from = state.out.length;
  take(text, state, run.length);
  const left = isMark && !isSpace(before) ? closeWith(run, state.open) : run;
  if (left === '') return;
  if (state.at >= text.length && left === run) state.out = state.out.slice(0, from);
  else if (isMark && !isSpace(after)) {
    const marks = left.length > 2 ? [left.slice(0, 2), left.slice(2)] : [left];
    for (const mark of marks) state.open.push({ mark, from: from + run.length });
  }
}

/** Closes the innermost marks that the run can close; returns what is left of it. */
function closeWith(run: string, open: OpenMark[]): string {
  let left = run;
  while (left !== '' && left.startsWith(open.at(-1)?.mark ?? ' ')) {
    left = left.slice(open.pop()?.mark.length);
  }
  return left;
}

/** After `](` without its end only the link's text is kept: there is no address to go to yet. */
function readLinkEnd(text: string, state: State): void {
  const start = state.open.findLastIndex(({ mark }) => mark === '[');
  const bracket = state.open[start];
  if (bracket === undefined) {
    take(text, state, 1);
    return;
  }
  state.open.splice(start, 1);
  const end = text[state.at + 1] === '(' ? text.indexOf(')', state.at) : state.at;
  if (end >= 0) {
    take(text, state, end + 1 - state.at);
    return;
  }
  state.out = withoutBracket(state.out, bracket);
  state.at = text.length;
}

function closeAll({ out, open }: State): string {
  let closed = out.trimEnd();
  for (const { mark, from } of open.toReversed()) {
    if (mark === '[') continue;
    closed = closed.length <= from ? closed.slice(0, from - mark.length) : closed + mark;
  }
  const bracket = open.findLast(({ mark }) => mark === '[');
  return bracket === undefined ? closed : withoutBracket(closed, bracket);
}

function withoutBracket(out: string, { from }: OpenMark): string {
  const start = out[from - 1] === '!' ? from - 1 : from;
  return out.slice(0, start) + out.slice(from + 1);
}

function runAt(text: string, at: number): string {
  let end = at + 1;
  while (text[end] === text[at]) end += 1;
  return text.slice(at, end);
}

function isSpace(character: string): boolean {
  return character.trim() === '';
}

function isWord(character: string): boolean {
  return /[\p{L}\p{N}]/u.test(character);
}
