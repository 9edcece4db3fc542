import type { ProgramStep, ReadingProgram } from './program.ts';
import type { SeenCharacter } from './seen.ts';

type CharactersStep = Extract<ProgramStep, { op: 'characters' }>;

/**
 * A position in the program: a step, the number of characters read of it, and whether its line has
 * content yet.
 */
interface MatchThread {
  readonly step: number;
  readonly offset: number;
  readonly bare: boolean;
}

/**
 * Runs the program over the visible characters, following all choices in parallel, so the time is
 * linear in the text.
 * @returns undefined if everything matched, otherwise the position and kind of the first
 * difference.
 */
export function findMismatch(
  program: ReadingProgram,
  seen: readonly SeenCharacter[],
): string | undefined {
  let threads = [{ step: 0, offset: 0, bare: true }];
  for (const [index, character] of seen.entries()) {
    const before = threads;
    threads = advanceThreads(program, threads, character);
    if (threads.length === 0) return describeMismatch(program, before, seen, index);
  }
  const ends = followForks(program, threads, undefined).some(
    ({ step }) => program[step]?.op === 'end',
  );
  return ends ? undefined : describeMismatch(program, threads, seen, seen.length);
}

function advanceThreads(
  program: ReadingProgram,
  threads: readonly MatchThread[],
  seen: SeenCharacter,
): MatchThread[] {
  const next = new Map<number, MatchThread>();
  const keep = (thread: MatchThread) => {
    next.set((thread.step * 4_096 + thread.offset) * 2 + (thread.bare ? 1 : 0), thread);
  };
  for (const thread of threads) {
    const bare = thread.bare || seen.startsLine;
    const reached = followForks(program, [thread], seen.startsPart);
    // A character that may be skipped leaves all branches open, including those at the start of a
    // part.
    const mayQuote = bare && seen.character === '>' && reached.some((at) => isQuoted(program, at));
    if (seen.skippable || mayQuote) for (const at of [thread, ...reached]) keep({ ...at, bare });
    for (const at of reached) {
      const step = program[at.step];
      if (step?.op !== 'characters') continue;
      if (seen.character !== step.characters[at.offset] || !acceptsCharacter(step, at, seen))
        continue;
      const isLast = at.offset + 1 === step.characters.length;
      const after = { bare: bare && step.added };
      if (isLast) keep({ step: at.step + 1, offset: 0, ...after });
      else keep({ step: at.step, offset: at.offset + 1, ...after });
    }
  }
  return [...next.values()];
}

function isQuoted(program: ReadingProgram, { step }: MatchThread): boolean {
  const at = program[step];
  return at?.op === 'quote-end' || (at?.op === 'characters' && at.quoted);
}

function acceptsCharacter(
  step: CharactersStep,
  { offset }: MatchThread,
  seen: SeenCharacter,
): boolean {
  if (seen.startsPart && (offset === 0 ? step.joined : step.whole)) return false;
  const { formats: rule } = step;
  if (rule === undefined || seen.formats === undefined) return true;
  const { formats } = seen;
  for (const format of rule.must) if (!formats.has(format)) return false;
  if (rule.may === undefined) return true;
  for (const format of formats) {
    if (!rule.must.has(format) && !rule.may.has(format)) return false;
  }
  return true;
}

/**
 * The threads after all steps that do not consume a character; at the end of the text any position
 * is accepted.
 */
function followForks(
  program: ReadingProgram,
  threads: readonly MatchThread[],
  startsPart: boolean | undefined,
): MatchThread[] {
  const found: MatchThread[] = [];
  const visited = new Set<number>();
  const go = (thread: MatchThread) => {
    const step = program[thread.step];
    if (thread.offset > 0 || step === undefined || step.op === 'characters') {
      found.push(thread);
      return;
    }
    const key = thread.step * 2 + (thread.bare ? 1 : 0);
    if (visited.has(key)) return;
    visited.add(key);
    if (step.op === 'end') found.push(thread);
    else if (step.op === 'quote-end') {
      found.push(thread);
      go({ ...thread, step: thread.step + 1 });
    } else if (step.op === 'fork') for (const to of step.to) go({ ...thread, step: to });
    else if (startsPart !== (step.op !== 'at-part')) go({ ...thread, step: thread.step + 1 });
  };
  for (const thread of threads) go(thread);
  return found;
}

function describeMismatch(
  program: ReadingProgram,
  threads: readonly MatchThread[],
  seen: readonly SeenCharacter[],
  at: number,
): string {
  const expected = followForks(program, threads, seen[at]?.startsPart).map((thread) => {
    const step = program[thread.step];
    if (step?.op !== 'characters') return step?.op === 'end' ? 'the end' : 'quote marks';
    const must = step.formats === undefined ? '' : ` as [${[...step.formats.must]}]`;
    const text = step.characters.slice(thread.offset, thread.offset + 20).join('');
    return JSON.stringify(text) + must;
  });
  const show = (from: number, to: number) =>
    seen
      .slice(Math.max(0, from), to)
      .map(({ character, startsPart }) => (startsPart ? '⏎' : '') + character)
      .join('');
  const formats = seen[at]?.formats;
  return [
    `after ${JSON.stringify(show(at - 40, at))}`,
    `expected ${[...new Set(expected)].join(' or ')}`,
    `but saw ${at < seen.length ? JSON.stringify(show(at, at + 40)) : 'the end'}`,
    formats === undefined ? '' : `as [${[...formats]}]`,
  ].join(' ');
}
