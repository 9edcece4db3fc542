import { parseTelegramHtml } from '@parley/simulators/telegram';
import fc from 'fast-check';
import { sampleDocument } from '../conformance/markdown-arbitrary.ts';
import { readAnswers } from '../gallery/read-answers.ts';
import { type Convert, loadConverter, TELEGRAM_LIMIT } from './converters.ts';

/** The same documents in every run. */
const SEED = 20_261_121;

/** The outcomes of some documents. A refused document is not checked further. */
export interface DocumentOutcomes {
  readonly documents: number;
  /** Telegram's parser refuses at least one of the messages, or it is empty. */
  refused: number;
  /** Longer than one message may be, so the sender refuses or truncates it. */
  tooLong: number;
  /** A word of the document is missing from the messages. */
  lossy: number;
}

/** The outcomes of generated documents and of the answers in the gallery. */
export interface ConverterOutcomes {
  readonly generated: DocumentOutcomes;
  readonly answers: DocumentOutcomes;
  /** Why generated documents were refused, without positions, most frequent first. */
  readonly reasons: readonly (readonly [reason: string, count: number])[];
}

/** Converts documents with Parley and parses the result by Telegram's own rules. */
export async function countOutcomes(documents: number): Promise<ConverterOutcomes> {
  const convert = await loadConverter('parley');
  const reasons = new Map<string, number>();
  const generated = createOutcomes(documents);
  for (const { markdown, words } of fc.sample(sampleDocument, { numRuns: documents, seed: SEED })) {
    countDocument(generated, words, readConverted(convert, markdown, reasons));
  }
  const all = readAnswers();
  const answers = createOutcomes(all.length);
  for (const { markdown } of all)
    countDocument(answers, [], readConverted(convert, markdown, new Map()));
  return { generated, answers, reasons: [...reasons].sort(([, a], [, b]) => b - a) };
}

function createOutcomes(documents: number): DocumentOutcomes {
  return { documents, refused: 0, tooLong: 0, lossy: 0 };
}

function countDocument(
  fates: DocumentOutcomes,
  words: readonly string[],
  texts: readonly string[] | undefined,
): void {
  if (texts === undefined) {
    fates.refused += 1;
    return;
  }
  if (texts.some((text) => text.length > TELEGRAM_LIMIT)) fates.tooLong += 1;
  const seen = new Set(texts.join('\n').match(/w\d+w/g));
  if (words.some((word) => !seen.has(word))) fates.lossy += 1;
}

/** The text visible to people, message by message; undefined if Telegram refuses it. */
function readConverted(
  convert: Convert,
  markdown: string,
  reasons: Map<string, number>,
): string[] | undefined {
  try {
    const texts = convert(markdown).map(parseTelegramHtml);
    const isEmpty = texts.length === 0 || texts.some(({ text }) => text.trim() === '');
    // A document without visible content has no message.
    if (isEmpty && texts.length > 0) throw new Error('message text is empty');
    return texts.map(({ text }) => text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const kind = reason.replace(/ at byte offset \d+$/, '');
    reasons.set(kind, (reasons.get(kind) ?? 0) + 1);
    return undefined;
  }
}
