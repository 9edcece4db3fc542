import type { BenchRoom } from './bench-room.ts';
import { renderContext } from './context-report.ts';
import { renderDistributed } from './distributed-report.ts';
import { renderFairness } from './fairness-report.ts';
import type { LongSection, Rounds, TableSection } from './figure.ts';
import { renderHeartbeat } from './heartbeat-report.ts';
import { renderMarkup } from './markup-report.ts';
import { measureChannels, renderChannels } from './measure-channels.ts';
import { measureContext } from './measure-context.ts';
import { measureDistributed } from './measure-distributed.ts';
import { measureFairness } from './measure-fairness.ts';
import { measureIdle, renderIdle } from './measure-idle.ts';
import { measureMarkup } from './measure-markup.ts';
import { measureMemorySearch } from './measure-memory-search.ts';
import { measurePrompt } from './measure-prompt.ts';
import { measureSoak } from './measure-soak.ts';
import { measureStages, renderStages } from './measure-stages.ts';
import { renderMemorySearch } from './memory-search-report.ts';
import { beatDays } from './month-of-beats.ts';
import { renderPrompt } from './prompt-report.ts';
import { renderSoak } from './soak-report.ts';

/** What a section came to: for programs, and as a table for people. */
export interface Told {
  readonly figures: unknown;
  readonly text: string;
}

/** The sections that do not share the one table, and how each is measured. */
export const OWN_TABLES: Readonly<
  Record<TableSection | LongSection, (rounds: Rounds, room: BenchRoom) => Promise<Told>>
> = {
  stages: told(measureStages, renderStages),
  prompt: told(measurePrompt, renderPrompt),
  'memory-search': told(measureMemorySearch, renderMemorySearch),
  context: told(measureContext, renderContext),
  markup: told(measureMarkup, renderMarkup),
  channels: told(measureChannels, renderChannels),
  heartbeat: told((rounds) => beatDays(rounds.days), renderHeartbeat),
  distributed: told((rounds) => measureDistributed(rounds), renderDistributed),
  idle: told(({ stillMs }) => measureIdle(stillMs), renderIdle),
  fairness: told((rounds) => measureFairness(rounds), renderFairness),
  soak: told(measureSoak, renderSoak),
};

function told<T>(
  measure: (rounds: Rounds, room: BenchRoom) => Promise<T>,
  render: (figures: T) => string,
) {
  return async (rounds: Rounds, room: BenchRoom): Promise<Told> => {
    const figures = await measure(rounds, room);
    return { figures, text: render(figures) };
  };
}
