import { z } from 'zod';
import { readAnswers } from '../gallery/read-answers.ts';
import { inNewFolder } from './bench-room.ts';
import { startChild } from './child-program.ts';
import { CONVERTERS, type ConverterName } from './converters.ts';
import type { Rounds } from './figure.ts';
import type { MarkupOrder } from './markup-process.ts';
import { type ConverterFates, countFates } from './markup-refusals.ts';
import { type Summary, summarise } from './statistics.ts';

/** Lengths of the answers that are converted, in kB. */
export const SIZES = [1, 10, 100] as const;

/** Times in ms: of the first call in a new process, and of warm ones for each of the sizes. */
export interface MarkupSpeed {
  readonly converter: MarkupOrder['converter'];
  readonly first: Summary;
  readonly warm: readonly Summary[];
  /** Of a whole answer of 10 kB that is shown after every 20 characters; only to Telegram. */
  readonly grown: Summary | undefined;
}

/** Everything the section finds out. */
export interface MarkupFigures {
  /** To Telegram, beside the other converters. */
  readonly telegram: readonly MarkupSpeed[];
  /** Parley's other dialects. */
  readonly dialects: readonly MarkupSpeed[];
  readonly fates: Readonly<Record<ConverterName, ConverterFates>>;
}

const DIALECTS = ['discord', 'whatsapp', 'plain', 'html'] as const;
const Times = z.object({
  first: z.number(),
  warm: z.array(z.array(z.number())),
  grown: z.number().optional(),
});

/**
 * Rendering beside two libraries that people use for it now: how long it takes, and what Telegram
 * says to the result. Each in processes of its own, in turns.
 */
export async function measureMarkup(rounds: Rounds): Promise<MarkupFigures> {
  const speeds = await inNewFolder((folder) => timeAll(rounds, folder));
  const fates = {
    parley: await countFates('parley', rounds.documents),
    'telegramify-markdown': await countFates('telegramify-markdown', rounds.documents),
    '@chat-adapter/telegram': await countFates('@chat-adapter/telegram', rounds.documents),
  };
  return {
    telegram: speeds.slice(0, CONVERTERS.length),
    dialects: speeds.slice(CONVERTERS.length),
    fates,
  };
}

async function timeAll(rounds: Rounds, compileCache: string): Promise<MarkupSpeed[]> {
  const texts = SIZES.map((size) => answerOf(size * 1_000));
  const names = [...CONVERTERS, ...DIALECTS];
  const times = names.map((): z.infer<typeof Times>[] => []);
  // The round before the first fills the compile cache.
  for (let round = -1; round < rounds.markup; round += 1) {
    for (const [index, converter] of names.entries()) {
      const repetitions = round < 0 ? 0 : rounds.conversions;
      const growing = answerOf(10_000);
      const one = await timeOne({ converter, texts, repetitions, growing, compileCache });
      if (round >= 0) times[index]?.push(one);
    }
  }
  return names.map((converter, index) => speedOf(converter, times[index] ?? []));
}

function speedOf(
  converter: MarkupOrder['converter'],
  times: readonly z.infer<typeof Times>[],
): MarkupSpeed {
  const grown = times.flatMap((one) => one.grown ?? []);
  return {
    converter,
    first: summarise(times.map(({ first }) => first)),
    warm: SIZES.map((_, size) => summarise(times.flatMap(({ warm }) => warm[size] ?? []))),
    grown: grown.length === 0 ? undefined : summarise(grown),
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

/** The answers of the gallery one after the other, up to a paragraph's end near this length. */
function answerOf(length: number): string {
  const all = `${readAnswers()
    .map(({ markdown }) => markdown.trimEnd())
    .join('\n\n')}\n\n`;
  const text = all.repeat(Math.ceil((length * 1.2) / all.length));
  return text.slice(0, text.indexOf('\n\n', length));
}
