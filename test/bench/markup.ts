import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readAnswers } from '../gallery/read-answers.ts';
import { CONVERTERS, type ConverterName } from './converters.ts';
import type { MarkupOrder } from './markup-process.ts';
import { type ConverterOutcomes, countOutcomes } from './markup-refusals.ts';
import { startChild } from './processes.ts';
import { formatRounded, type RoundSummary, renderTable, summarizeRounds } from './report.ts';
import type { BenchRounds } from './rounds.ts';
import { withNewFolder } from './subjects.ts';

/** Lengths of the converted answers, in kB. */
export const SIZES = [1, 10, 100] as const;

/** Times in ms: of the first call in a new process, and of warm calls for each of the sizes. */
export interface MarkupSpeed {
  readonly converter: MarkupOrder['converter'];
  readonly first: RoundSummary;
  readonly warm: readonly RoundSummary[];
  /**
   * The time for a complete 10 kB answer that is shown after every 20 characters; only for
   * Telegram.
   */
  readonly grown: RoundSummary | undefined;
}

export interface MarkupFigures {
  /** For Telegram, compared with the other converters. */
  readonly telegram: readonly MarkupSpeed[];
  /** Parley's other dialects. */
  readonly dialects: readonly MarkupSpeed[];
  /** The outcomes of Parley's messages for Telegram. */
  readonly fates: ConverterOutcomes;
}

const DIALECTS = ['discord', 'whatsapp', 'plain', 'html'] as const;
const Times = z.object({
  first: z.number(),
  warm: z.array(z.array(z.number())),
  grown: z.number().optional(),
});

/**
 * Compares rendering with two common libraries, each in its own processes, alternating, and counts
 * the Parley output that Telegram refuses.
 */
export async function measureMarkup(rounds: BenchRounds): Promise<MarkupFigures> {
  const speeds = await withNewFolder((folder) => timeAll(rounds, folder));
  const fates = await countOutcomes(rounds.documents);
  return {
    telegram: speeds.slice(0, CONVERTERS.length),
    dialects: speeds.slice(CONVERTERS.length),
    fates,
  };
}

async function timeAll(rounds: BenchRounds, compileCache: string): Promise<MarkupSpeed[]> {
  const texts = SIZES.map((size) => createAnswerText(size * 1_000));
  const names = [...CONVERTERS, ...DIALECTS];
  const times = names.map((): z.infer<typeof Times>[] => []);
  // An extra round before the first fills the compile cache.
  for (let round = -1; round < rounds.markup; round += 1) {
    for (const [index, converter] of names.entries()) {
      const repetitions = round < 0 ? 0 : rounds.conversions;
      const growing = createAnswerText(10_000);
      const one = await timeOne({ converter, texts, repetitions, growing, compileCache });
      if (round >= 0) times[index]?.push(one);
    }
  }
  return names.map((converter, index) => summarizeSpeed(converter, times[index] ?? []));
}

function summarizeSpeed(
  converter: MarkupOrder['converter'],
  times: readonly z.infer<typeof Times>[],
): MarkupSpeed {
  const grown = times.flatMap((one) => one.grown ?? []);
  return {
    converter,
    first: summarizeRounds(times.map(({ first }) => first)),
    warm: SIZES.map((_, size) => summarizeRounds(times.flatMap(({ warm }) => warm[size] ?? []))),
    grown: grown.length === 0 ? undefined : summarizeRounds(grown),
  };
}

async function timeOne(order: MarkupOrder): Promise<z.infer<typeof Times>> {
  const child = startChild('markup-process.ts');
  try {
    return Times.parse(await child.ask(order));
  } finally {
    await child.close();
  }
}

/** The answers of the gallery one after another, up to a paragraph's end near this length. */
function createAnswerText(length: number): string {
  const all = `${readAnswers()
    .map(({ markdown }) => markdown.trimEnd())
    .join('\n\n')}\n\n`;
  const text = all.repeat(Math.ceil((length * 1.2) / all.length));
  return text.slice(0, text.indexOf('\n\n', length));
}

export function renderMarkup({ telegram, dialects, fates }: MarkupFigures): string {
  const { generated, answers } = fates;
  const beside = [
    ['Markdown to Telegram', ...CONVERTERS.map(getConverterTitle)],
    ...createSpeedRows(telegram),
    [
      'answer of 10 kB that grows by 20 characters',
      ...telegram.map(({ grown }) => `${formatRounded(grown?.median ?? Number.NaN)} ms`),
    ],
    [`${generated.documents} generated documents: refused`, String(generated.refused)],
    ['  longer than a message', String(generated.tooLong)],
    ['  a word is lost', String(generated.lossy)],
    [`${answers.documents} answers of the gallery: refused`, String(answers.refused)],
    ['  longer than a message', String(answers.tooLong)],
  ];
  const own = [
    ['Parley, other dialects', ...dialects.map(({ converter }) => converter)],
    ...createSpeedRows(dialects),
  ];
  const why = fates.reasons.slice(0, 3).map(([reason, count]) => `  ${count} times: ${reason}`);
  const reasons = why.length === 0 ? [] : ['', 'Most frequent refusals', ...why];
  return [renderTable(beside), '', renderTable(own), ...reasons].join('\n');
}

function createSpeedRows(speeds: readonly MarkupSpeed[]): string[][] {
  return [
    [
      'first answer of a process',
      ...speeds.map(({ first }) => `${formatRounded(first.median)} ms`),
    ],
    ...SIZES.map((size, index) => [
      `answer of ${size} kB`,
      ...speeds.map(({ warm }) => `${formatRounded(warm[index]?.median ?? Number.NaN)} ms`),
    ]),
  ];
}

const Manifest = z.object({ devDependencies: z.record(z.string(), z.string()) });

function getConverterTitle(name: ConverterName): string {
  if (name === 'parley') return 'Parley';
  const manifest = readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8');
  return `${name} ${Manifest.parse(JSON.parse(manifest)).devDependencies[name]}`;
}
