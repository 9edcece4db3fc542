import { type Compilation, unlessTight } from './compilation.ts';
import { compileLink } from './compile-link.ts';
import { compileTable } from './compile-table.ts';
import type { Expected, Formats, ItemMarker } from './expected.ts';
import type { Manner } from './manner.ts';
import type { FormatRule, Program } from './program.ts';
import { type Place, StepWriter } from './step-writer.ts';

const RULE = '———';
const PLACE: Place = { quoted: false, heading: false, unformatted: false };

/** Compiles a program that accepts every way in which a dialect may show this content. */
export function compile(content: readonly Expected[], manner: Manner): Program {
  const writer = new StepWriter();
  compileAll(content, PLACE, { writer, manner, all: compileAll });
  return writer.end();
}

function compileAll(content: readonly Expected[], place: Place, to: Compilation): void {
  for (const item of content) compileOne(item, place, to);
}

function compileOne(item: Expected, place: Place, to: Compilation): void {
  const { writer, manner } = to;
  switch (item.kind) {
    case 'text':
      writer.text(item.text, ruleFor(item.formats, place, manner), place, manner.roomy);
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
      unlessTight(to, () => writer.addition([RULE], place));
  }
}

function ruleFor(
  formats: Formats | undefined,
  place: Place,
  manner: Manner,
): FormatRule | undefined {
  const rule = formats === undefined ? undefined : manner.formats(formats);
  if (!place.heading || rule?.may === undefined) return rule;
  return { must: rule.must, may: new Set([...rule.may, 'bold']) };
}

function compileMarker(marker: ItemMarker, place: Place, to: Compilation): void {
  unlessTight(to, () => to.writer.addition(markerTexts(marker, to.manner), place));
}

function markerTexts({ label, number, done }: ItemMarker, { bullets }: Manner): string[] {
  if (label !== undefined) return ['', ...bullets].map((bullet) => `${bullet}[${label}]`);
  const box = done === undefined ? '' : done ? '☑' : '☐';
  if (number !== undefined) return [`${number}.${box}`];
  const pointed = bullets.map((bullet) => bullet + box);
  return done === undefined ? pointed : [box, ...pointed];
}
