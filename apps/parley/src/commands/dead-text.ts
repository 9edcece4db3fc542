import type { DeadList, DeadOutcome } from '@parley/gateway/dead-desk';
import type { ShownLetter } from '@parley/gateway/shown-letter';
import { visible } from '../terminal/visible-text.ts';

type Result = DeadOutcome['results'][number];

/** A list for the terminal. Texts of strangers command no terminal. */
export function listText({ letters, counts, next }: DeadList): string {
  const all = counts.refused + counts.uncertain + counts.unanswered;
  if (all === 0) return 'Nothing was given up. All is delivered, or on its way.';
  const kinds = `${counts.refused} refused, ${counts.uncertain} uncertain, ${counts.unanswered} unanswered`;
  const more = next === null ? [] : [`Older ones: parley dead list --before ${next}`];
  return [...letters.map(letterText), ...more, kinds].join('\n');
}

/** One letter: number, when, what it is, where, why, and its words. */
export function letterText(letter: ShownLetter): string {
  const { id, diedAt, kind, chat, reason, settled } = letter;
  const then = settled === null ? '' : `; ${settled.how} ${time(settled.at)}`;
  const lines = [
    `${id}  ${time(diedAt)}  ${kind}  ${chat}${then}`,
    ...(reason === '' ? [] : [`    because: ${oneLine(reason)}`]),
    ...facts(letter).map((words) => `    ${words}`),
    ...wordsOf(letter).map((line) => `    | ${line}`),
  ];
  return lines.map(visible).join('\n');
}

function facts(letter: ShownLetter): readonly string[] {
  if (letter.kind === 'unanswered') {
    const { count, messages, steps } = letter;
    return [
      ...(steps === 0
        ? []
        : [`its turn had done ${steps} steps; asked again, tools may do them again`]),
      ...(count > messages.length ? [`${count} messages; the first ${messages.length}:`] : []),
    ];
  }
  const { part, file, state } = letter;
  return [
    ...(part === null ? [] : [`part ${part} of an answer`]),
    ...(file === '' ? [] : [`with the file ${file}`]),
    ...(letter.settled?.how === 'replayed' ? [`now: ${state}`] : []),
  ];
}

function wordsOf(letter: ShownLetter): readonly string[] {
  if (letter.kind !== 'unanswered') return letter.text === '' ? [] : letter.text.split('\n');
  return letter.messages.flatMap(({ from, text, at }) => [
    `${oneLine(from)}, ${time(at)}:`,
    ...text.split('\n'),
  ]);
}

/** What came of a wish, in words. `near` finds a number that is there for one that is not. */
export function outcomeText(
  results: readonly Result[],
  isRunning: boolean,
  near: (id: number) => number | null,
): string {
  const of = (result: Result['result']) =>
    results.filter((one) => one.result === result).map(({ id }) => id);
  const [replayed, dropped, settled] = [of('replayed'), of('dropped'), of('settled')];
  const uncertain = of('uncertain');
  const waits = isRunning ? '' : ' Parley does not run here; it is done as soon as it does.';
  return [
    ...(results.length === 0 ? ['There is nothing to do.'] : []),
    ...(replayed.length === 0 ? [] : [`Replayed: ${numbers(replayed)}.${waits}`]),
    ...(dropped.length === 0 ? [] : [`Dropped: ${numbers(dropped)}.`]),
    ...(settled.length === 0 ? [] : [`Done already: ${numbers(settled)}.`]),
    ...(uncertain.length === 0
      ? []
      : [
          `Left alone, for it may have arrived: ${numbers(uncertain)}. With --even-twice it is sent, and may come twice.`,
        ]),
    ...of('missing').map((id) => missingText(id, near(id))),
  ].join('\n');
}

/** That there is no such letter, and which one might be meant. */
export function missingText(id: number, near: number | null): string {
  const hint = near === null ? 'There is none to be settled.' : `Did you mean ${near}?`;
  return `There is no dead letter ${id}. ${hint}`;
}

/** The number that is nearest. */
export function nearest(id: number, known: readonly number[]): number | null {
  const byDistance = known.toSorted((a, b) => Math.abs(a - id) - Math.abs(b - id));
  return byDistance[0] ?? null;
}

const MOST_NUMBERS = 20;

function numbers(ids: readonly number[]): string {
  const rest = ids.length - MOST_NUMBERS;
  return `${ids.slice(0, MOST_NUMBERS).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** `2026-11-21 14:05:09Z`. */
function time(ms: number): string {
  return new Date(ms)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, 'Z');
}
