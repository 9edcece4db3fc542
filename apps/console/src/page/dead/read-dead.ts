import { fieldsOf } from '../chat/wire.ts';
import { listOf, numberOf, textOf } from '../prompt/read-prompt.ts';

/** What was given up, and how: a letter of one kind looks the same to whoever settles it. */
export type DeadKind = 'refused' | 'uncertain' | 'unanswered';

/** One dead letter. Its texts were written by people and models. Times in ms. */
export interface DeadLetter {
  readonly id: number;
  readonly kind: DeadKind;
  readonly diedAt: number;
  readonly reason: string;
  /** The chat, as people write it. */
  readonly chat: string;
  /** What was to be said; of messages without an answer what was written, by whom. */
  readonly words: readonly LetterWords[];
  /** There is more than the list shows. */
  readonly isCut: boolean;
  /** The name of the file that was to come with it. */
  readonly file: string;
  /** Which part of an answer it is, from 1; 0 where it is none. */
  readonly part: number;
  /** What the turn had done before it failed. */
  readonly steps: number;
}

/** `from` is empty for what Parley was to say. */
export interface LetterWords {
  readonly from: string;
  readonly text: string;
}

/** A page of letters; `next` is where older ones begin, null where there are none. */
export interface DeadPage {
  readonly letters: readonly DeadLetter[];
  readonly counts: Readonly<Record<DeadKind, number>>;
  readonly next: number | null;
}

/** Reads a page; letters that this page cannot show are left out. */
export function readDeadPage(data: unknown): DeadPage {
  const { letters, counts, next } = fieldsOf(data);
  return {
    letters: listOf(letters).flatMap((entry) => readLetter(entry) ?? []),
    counts: readCounts(counts),
    next: typeof next === 'number' ? next : null,
  };
}

function readCounts(data: unknown): DeadPage['counts'] {
  const { refused, uncertain, unanswered } = fieldsOf(data);
  return {
    refused: numberOf(refused),
    uncertain: numberOf(uncertain),
    unanswered: numberOf(unanswered),
  };
}

/** One letter as a whole; null where it is none. */
export function readWholeLetter(data: unknown): DeadLetter | null {
  return readLetter(fieldsOf(data).letter);
}

const CUT = '…';

function readLetter(data: unknown): DeadLetter | null {
  const fields = fieldsOf(data);
  const { id, kind } = fields;
  if (typeof id !== 'number') return null;
  if (kind !== 'refused' && kind !== 'uncertain' && kind !== 'unanswered') return null;
  const messages = listOf(fields.messages).map((message) => {
    const { from, text } = fieldsOf(message);
    return { from: textOf(from), text: textOf(text) };
  });
  const words = kind === 'unanswered' ? messages : [{ from: '', text: textOf(fields.text) }];
  return {
    id,
    kind,
    words,
    diedAt: numberOf(fields.diedAt),
    reason: textOf(fields.reason),
    chat: textOf(fields.chat),
    file: textOf(fields.file),
    part: numberOf(fields.part),
    steps: numberOf(fields.steps),
    isCut: numberOf(fields.count) > messages.length || words.some(({ text }) => text.endsWith(CUT)),
  };
}
