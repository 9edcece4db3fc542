import { type PrintedTarget, type RenderedPart, render } from '@parley/markup';
import { compile } from './compile.ts';
import { getFallbackManner, getManner } from './dialect-manner.ts';
import type { ExpectedItem } from './expected.ts';
import type { DialectManner } from './manner.ts';
import { findMismatch } from './match.ts';
import { READERS } from './readers.ts';
import { listSeenCharacters, type TextStretch } from './seen.ts';
import { readExpected } from './tree-reference.ts';
import { hasVisibleCharacter } from './visible.ts';
import { listExpectedWords, matchesWords } from './words.ts';

/** Carries all the details needed to diagnose a failure. */
class ConformanceError extends Error {
  override readonly name = 'ConformanceError';
}

/** The visible content of each part of a valid document. */
export interface CheckedDocument {
  readonly seen: readonly (readonly TextStretch[])[];
  /** Whether every character matched a reading of the source; otherwise only the words matched. */
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
  expected: Iterable<readonly ExpectedItem[]> = readExpected(markdown),
): CheckedDocument {
  return checkParts(render(markdown, target), target, expected);
}

/** Checks parts that are already rendered. */
function checkParts(
  parts: readonly RenderedPart[],
  target: PrintedTarget,
  expected: Iterable<readonly ExpectedItem[]>,
): CheckedDocument {
  const seen = parts.map((part, index) => readPart(part, target, `${index + 1}/${parts.length}`));
  const plain = parts.map((part) => [{ text: part.plain, formats: undefined }]);
  const differs = (reading: readonly ExpectedItem[]) =>
    findDifference(reading, seen, getManner(target), 'parts') ??
    findDifference(reading, plain, getFallbackManner(target), 'fallbacks');
  const differences: string[] = [];
  let hasSameWords = false;
  for (const reading of expected) {
    const found = differs(reading);
    if (found === undefined) return { seen, exact: true };
    differences.push(found);
    hasSameWords ||= matchesWords(listExpectedWords(reading), seen, plain);
  }
  if (hasSameWords && differences.length > 1) return { seen, exact: false };
  const texts = parts.map((part) => `${part.text}\n--- fallback\n${part.plain}`).join('\n⏎\n');
  throw new ConformanceError(`${differences.join('\n')}\n${texts}`);
}

/** Reads a part with the strict parser of its platform. */
function readPart(
  { text, plain }: RenderedPart,
  target: PrintedTarget,
  name: string,
): TextStretch[] {
  const { read, counted } = READERS[target.dialect];
  const fail = (why: string): never => {
    throw new ConformanceError(`part ${name} ${why}:\n${text}`);
  };
  const stretches = attemptOrFail(() => read(text, plain), fail);
  const shown = stretches.map((stretch) => stretch.text).join('');
  if (!hasVisibleCharacter(shown)) fail('shows nothing');
  if (!hasVisibleCharacter(plain)) fail('has a fallback that shows nothing');
  if (!text.isWellFormed() || !plain.isWellFormed()) fail('cuts a surrogate pair');
  for (const each of [counted === 'visible' ? shown : text, plain]) {
    const length = LENGTH[target.unit](each);
    if (length > target.maxLength) fail(`has length ${length} of ${target.maxLength}`);
  }
  return stretches;
}

function findDifference(
  reading: readonly ExpectedItem[],
  seen: readonly (readonly TextStretch[])[],
  manner: DialectManner,
  what: string,
): string | undefined {
  const found = findMismatch(
    compile(reading, manner),
    listSeenCharacters(seen, manner.addressForm),
  );
  return found === undefined ? undefined : `the ${what} differ: ${found}`;
}

function attemptOrFail<Result>(action: () => Result, fail: (why: string) => never): Result {
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
