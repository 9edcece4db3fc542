import type { Nodes, Root } from 'mdast';
import { findInlineMath, maskSpans } from './inline-maths.ts';

/** With more doubtful positions than this, only the plainest readings are tried. */
const MAX_DOUBTS = 4;

/** Decides whether a doubtful position, numbered through the document, is a formula. */
type FormulaChoice = (place: number) => boolean;

/**
 * Text with dollars and brackets can be read with or without formulas; the renderer chooses one,
 * but must not lose content in either reading. Every reading is Markdown with masked formulas, so
 * that a parser without formulas can read it.
 * @returns all readings, starting with the one that has all formulas; a single reading if nothing
 * looks like a formula.
 */
export function* listReadings(
  markdown: string,
  parse: (markdown: string) => Root,
): Generator<string, void> {
  if (!/\$|\\[([]/.test(markdown)) {
    yield markdown;
    return;
  }
  let doubts = 0;
  const told = new Set<string>();
  const withMaths = function* (choice: FormulaChoice) {
    const reading = applyChoice(markdown, parse, (place) => {
      doubts = Math.max(doubts, place + 1);
      return choice(place);
    });
    if (told.has(reading)) return;
    told.add(reading);
    yield reading;
  };
  yield* withMaths(() => true);
  yield* withMaths(() => false);
  for (const choice of createChoices(doubts)) yield* withMaths(choice);
}

function createChoices(doubts: number): FormulaChoice[] {
  if (doubts <= MAX_DOUBTS) {
    return Array.from({ length: 2 ** doubts }, (_, bits): FormulaChoice => {
      return (place) => (bits >> place) % 2 === 0;
    });
  }
  return Array.from({ length: doubts }, (_, one) => one).flatMap((one): FormulaChoice[] => [
    (place) => place !== one,
    (place) => place < one,
    (place) => place >= one,
  ]);
}

function applyChoice(
  markdown: string,
  parse: (markdown: string) => Root,
  choice: FormulaChoice,
): string {
  let place = 0;
  const choose = () => {
    place += 1;
    return choice(place - 1);
  };
  const spans: { start: number; end: number }[] = [];
  visitInlineBlocks(parse(markdown), (start, end) => {
    for (const span of findInlineMath(markdown.slice(start, end))) {
      if (choose()) spans.push({ start: start + span.start, end: start + span.end });
    }
  });
  return maskSpans(markdown, spans);
}

function visitInlineBlocks(node: Nodes, see: (start: number, end: number) => void): void {
  if (node.type === 'paragraph' || node.type === 'heading' || node.type === 'tableCell') {
    see(node.position?.start.offset ?? 0, node.position?.end.offset ?? 0);
  } else if ('children' in node) for (const child of node.children) visitInlineBlocks(child, see);
}
