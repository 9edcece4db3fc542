import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { CONVERTERS, type ConverterName } from './converters.ts';
import { type MarkupFigures, type MarkupSpeed, SIZES } from './measure-markup.ts';
import { round, table } from './report.ts';

/** The tables of the markup section, for people. */
export function renderMarkup({ telegram, dialects, fates }: MarkupFigures): string {
  const { generated, answers } = fates.parley;
  const of = (name: string, value: (fate: (typeof fates)[ConverterName]) => number): string[] => [
    name,
    ...CONVERTERS.map((converter) => String(value(fates[converter]))),
  ];
  const beside = [
    ['Markdown to Telegram', ...CONVERTERS.map(converterTitle)],
    ...speedRows(telegram),
    [
      'answer of 10 kB that grows by 20 characters',
      ...telegram.map(({ grown }) => `${round(grown?.median ?? Number.NaN)} ms`),
    ],
    of(`${generated.documents} generated documents: refused`, (fate) => fate.generated.refused),
    of('  longer than a message', (fate) => fate.generated.tooLong),
    of('  a word is lost', (fate) => fate.generated.lossy),
    of(`${answers.documents} answers of the gallery: refused`, (fate) => fate.answers.refused),
    of('  longer than a message', (fate) => fate.answers.tooLong),
  ];
  const own = [
    ['Parley, other dialects', ...dialects.map(({ converter }) => converter)],
    ...speedRows(dialects),
  ];
  const why = CONVERTERS.flatMap((name) =>
    fates[name].reasons
      .slice(0, 3)
      .map(([reason, count]) => `  ${name}, ${count} times: ${reason}`),
  );
  const reasons = why.length === 0 ? [] : ['', 'Most frequent refusals', ...why];
  return [table(beside), '', table(own), ...reasons].join('\n');
}

function speedRows(speeds: readonly MarkupSpeed[]): string[][] {
  return [
    ['first answer of a process', ...speeds.map(({ first }) => `${round(first.median)} ms`)],
    ...SIZES.map((size, index) => [
      `answer of ${size} kB`,
      ...speeds.map(({ warm }) => `${round(warm[index]?.median ?? Number.NaN)} ms`),
    ]),
  ];
}

const Manifest = z.object({ dependencies: z.record(z.string(), z.string()) });

function converterTitle(name: ConverterName): string {
  if (name === 'parley') return 'Parley';
  const manifest = readFileSync(join(import.meta.dirname, '../package.json'), 'utf8');
  return `${name} ${Manifest.parse(JSON.parse(manifest)).dependencies[name]}`;
}
