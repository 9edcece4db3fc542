import { type Compilation, emitUnlessTight } from './compilation.ts';
import { compileLink } from './compile-link.ts';
import { compileTable } from './compile-table.ts';
import type { ExpectedItem, Formats, ItemMarker } from './expected.ts';
import type { DialectManner } from './manner.ts';
import type { FormatRule, ReadingProgram } from './program.ts';
import { type CharacterContext, StepWriter } from './step-writer.ts';

const RULE = '———';
const PLACE: CharacterContext = { quoted: false, heading: false, unformatted: false };

/** Compiles a program that accepts every way in which a dialect may show this content. */
export function compile(content: readonly ExpectedItem[], manner: DialectManner): ReadingProgram {
  const writer = new StepWriter();
  compileAll(content, PLACE, { writer, manner, all: compileAll });
  return writer.end();
}

function compileAll(
  content: readonly ExpectedItem[],
  place: CharacterContext,
  to: Compilation,
): void {
  for (const item of content) compileOne(item, place, to);
}

function compileOne(item: ExpectedItem, place: CharacterContext, to: Compilation): void {
  const { writer, manner } = to;
  switch (item.kind) {
    case 'text':
      writer.text(item.text, getFormatRule(item.formats, place, manner), place, manner.roomy);
      break;
    case 'maybe':
      writer.optional(() => writer.text(item.text, undefined, place, false));
      break;
    case 'link':
      compileLink(item, place, to);
      break;
    case 'marker':
      compileMarker(item.marker, place, to);
      break;
    case 'heading':
      compileAll(item.content, { ...place, heading: true }, to);
      break;
    case 'quote':
      compileAll(item.content, { ...place, quoted: true }, to);
      writer.endQuote();
      break;
    case 'table':
      compileTable(item, place, to);
      break;
    case 'rule':
      emitUnlessTight(to, () => writer.addition([RULE], place));
  }
}

function getFormatRule(
  formats: Formats | undefined,
  place: CharacterContext,
  manner: DialectManner,
): FormatRule | undefined {
  const rule = formats === undefined ? undefined : manner.formats(formats);
  if (!place.heading || rule?.may === undefined) return rule;
  return { must: rule.must, may: new Set([...rule.may, 'bold']) };
}

function compileMarker(marker: ItemMarker, place: CharacterContext, to: Compilation): void {
  emitUnlessTight(to, () => to.writer.addition(listMarkerTexts(marker, to.manner), place));
}

function listMarkerTexts(
  { label, number, done }: ItemMarker,
  { bullets }: DialectManner,
): string[] {
  if (label !== undefined) return ['', ...bullets].map((bullet) => `${bullet}[${label}]`);
  const box = done === undefined ? '' : done ? '☑' : '☐';
  if (number !== undefined) return [`${number}.${box}`];
  const pointed = bullets.map((bullet) => bullet + box);
  return done === undefined ? pointed : [box, ...pointed];
}
