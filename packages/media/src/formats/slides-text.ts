import { xmlText } from './xml-text.ts';

const SLIDE = /^ppt\/slides\/slide(\d+)\.xml$/;
const TEXT = new Set(['a:t']);

/** The words of a slide show, slide by slide in the order of their numbers. */
export function slidesText(members: ReadonlyMap<string, Uint8Array>): string {
  const decoder = new TextDecoder();
  return [...members]
    .map(([name, bytes]) => ({ number: Number(SLIDE.exec(name)?.[1]), bytes }))
    .filter(({ number }) => number > 0)
    .toSorted((one, other) => one.number - other.number)
    .map(({ number, bytes }) => `# Slide ${number}\n${wordsOf(decoder.decode(bytes))}`)
    .join('\n\n');
}

function wordsOf(xml: string): string {
  const lineEnds = new Set(['a:p', 'a:br']);
  const text = xmlText(xml, { inside: TEXT }, (tag, closing) =>
    closing && lineEnds.has(tag) ? '\n' : '',
  );
  return text.replaceAll(/\n{2,}/g, '\n').trim();
}
