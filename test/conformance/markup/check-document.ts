import { type PrintedTarget, type RenderedPart, render } from '@parley/markup';
import { compile } from './compile.ts';
import { fallbackMannerOf, mannerOf } from './dialect-manner.ts';
import type { Expected } from './expected.ts';
import type { Manner } from './manner.ts';
import { mismatch } from './match.ts';
import { READERS } from './readers.ts';
import { type Stretch, seenIn } from './seen.ts';
import { expectedOfMarkdown } from './tree-reference.ts';
import { hasSeen } from './visible.ts';
import { expectedWords, sameWords } from './words.ts';

/** Carries all the details needed to diagnose a failure. */
class ConformanceError extends Error {
  override readonly name = 'ConformanceError';
}

/** The visible content of each part of a valid document. */
export interface Checked {
  readonly seen: readonly (readonly Stretch[])[];
  /** Whether every character matched some reading of the source, rather than only the words. */
  readonly exact: boolean;
}

/**
 * Renders Markdown and checks that each part is valid on the platform and within the limit, and
 * that all parts together show exactly the source; the same holds for the fallbacks.
 * @param expected the readings of the source, one of which must match.
 * @throws ConformanceError if content is refused, too long, lost, duplicated or out of order.
 */
export function checkDocument(
  markdown: string,
  target: PrintedTarget,
  expected: Iterable<readonly Expected[]> = expectedOfMarkdown(markdown),
): Checked {
  return checkParts(render(markdown, target), target, expected);
}

/** Checks parts that are already rendered. */
function checkParts(
  parts: readonly RenderedPart[],
  target: PrintedTarget,
  expected: Iterable<readonly Expected[]>,
): Checked {
  const seen = parts.map((part, index) => readPart(part, target, `${index + 1}/${parts.length}`));
  const plain = parts.map((part) => [{ text: part.plain, formats: undefined }]);
  const differs = (reading: readonly Expected[]) =>
    difference(reading, seen, mannerOf(target), 'parts') ??
    difference(reading, plain, fallbackMannerOf(target), 'fallbacks');
  const differences: string[] = [];
  let hasSameWords = false;
  for (const reading of expected) {
    const found = differs(reading);
    if (found === undefined) return { seen, exact: true };
    differences.push(found);
    hasSameWords ||= sameWords(expectedWords(reading), seen, plain);
  }
  if (hasSameWords && differences.length > 1) return { seen, exact: false };
  const texts = parts.map((part) => `${part.text}\n--- fallback\n${part.plain}`).join('\n⏎\n');
  throw new ConformanceError(`${differences.join('\n')}\n${texts}`);
}

/** Reads a part with the strict parser of its platform. */
function readPart({ text, plain }: RenderedPart, target: PrintedTarget, name: string): Stretch[] {
  const { read, counted } = READERS[target.dialect];
  const fail = (why: string): never => {
    throw new ConformanceError(`part ${name} ${why}:\n${text}`);
  };
  const stretches = attempt(() => read(text, plain), fail);
  const shown = stretches.map((stretch) => stretch.text).join('');
  if (!hasSeen(shown)) fail('shows nothing');
  if (!hasSeen(plain)) fail('has a fallback that shows nothing');
  if (!text.isWellFormed() || !plain.isWellFormed()) fail('cuts a surrogate pair');
  for (const each of [counted === 'visible' ? shown : text, plain]) {
    const length = LENGTH[target.unit](each);
    if (length > target.maxLength) fail(`has length ${length} of ${target.maxLength}`);
  }
  return stretches;
}

function difference(
  reading: readonly Expected[],
  seen: readonly (readonly Stretch[])[],
  manner: Manner,
  what: string,
): string | undefined {
  const found = mismatch(compile(reading, manner), seenIn(seen, manner.addressForm));
  return found === undefined ? undefined : `the ${what} differ: ${found}`;
}

function attempt<Result>(action: () => Result, fail: (why: string) => never): Result {
  try {
    return action();
  } catch (error) {
    return fail(`is refused (${error instanceof Error ? error.message : String(error)})`);
  }
}

const LENGTH: Readonly<Record<PrintedTarget['unit'], (text: string) => number>> = {
  utf16: (text) => text.length,
  codepoint: (text) => [...text].length,
  byte: (text) => new TextEncoder().encode(text).length,
};
