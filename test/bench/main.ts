import { parseArgs } from 'node:util';
import type { BenchRoom } from './bench-room.ts';
import { renderContext } from './context-report.ts';
import { startModelSide } from './doubles.ts';
import { type Figure, FULL, QUICK, type Rounds, SECTIONS, type Section } from './figure.ts';
import { renderHeartbeat } from './heartbeat-report.ts';
import { machineFacts } from './machine.ts';
import { renderMarkup } from './markup-report.ts';
import { type ChannelCost, measureChannels, renderChannels } from './measure-channels.ts';
import { type ContextFigures, measureContext } from './measure-context.ts';
import { measureLatency } from './measure-latency.ts';
import { type MarkupFigures, measureMarkup } from './measure-markup.ts';
import { measureMemory } from './measure-memory.ts';
import { type MemorySearchFigures, measureMemorySearch } from './measure-memory-search.ts';
import { measureMicro } from './measure-micro.ts';
import { measurePrompt, type PromptFigures } from './measure-prompt.ts';
import { measureStart } from './measure-start.ts';
import { measureThroughput } from './measure-throughput.ts';
import { renderMemorySearch } from './memory-search-report.ts';
import { type BeatDays, beatDays } from './month-of-beats.ts';
import { renderPrompt } from './prompt-report.ts';
import { renderMachine, renderTable, sumUp } from './report.ts';

/** Sections with a line of the one table for each figure; the others have tables of their own. */
type PlainSection = Exclude<
  Section,
  'prompt' | 'memory-search' | 'context' | 'markup' | 'channels' | 'heartbeat'
>;

const MEASURES: Readonly<
  Record<PlainSection, (room: BenchRoom, rounds: Rounds) => Promise<Figure[]>>
> = {
  start: measureStart,
  memory: measureMemory,
  latency: measureLatency,
  throughput: measureThroughput,
  micro: (_room, rounds) => measureMicro(rounds),
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: SECTIONS.join(',') },
    json: { type: 'boolean', default: false },
    'node-arguments': { type: 'string', default: '' },
  },
});
const wanted = sectionsOf(positionals.length > 0 ? positionals.join(',') : values.only);
const rounds = values.quick ? QUICK : FULL;
const machine = machineFacts();
const model = await startModelSide();
try {
  const nodeArguments = values['node-arguments'].split(' ').filter((argument) => argument !== '');
  const room: BenchRoom = { modelUrl: model.baseUrl, nodeArguments };
  const figures: Figure[] = [];
  let prompt: PromptFigures | undefined;
  let memorySearch: MemorySearchFigures | undefined;
  let context: ContextFigures | undefined;
  let markup: MarkupFigures | undefined;
  let channels: ChannelCost[] | undefined;
  let heartbeat: BeatDays | undefined;
  for (const section of wanted) {
    process.stderr.write(`measuring ${section} …\n`);
    if (section === 'prompt') prompt = await measurePrompt(rounds);
    else if (section === 'memory-search') memorySearch = await measureMemorySearch(rounds);
    else if (section === 'context') context = await measureContext(rounds);
    else if (section === 'markup') markup = await measureMarkup(rounds);
    else if (section === 'channels') channels = await measureChannels(rounds);
    else if (section === 'heartbeat') heartbeat = await beatDays(rounds.days);
    else figures.push(...(await MEASURES[section](room, rounds)));
  }
  const summed = figures.map(sumUp);
  const tables = [
    ...(summed.length > 0 ? [renderTable(summed)] : []),
    ...(prompt === undefined ? [] : [renderPrompt(prompt)]),
    ...(memorySearch === undefined ? [] : [renderMemorySearch(memorySearch)]),
    ...(context === undefined ? [] : [renderContext(context)]),
    ...(markup === undefined ? [] : [renderMarkup(markup)]),
    ...(channels === undefined ? [] : [renderChannels(channels)]),
    ...(heartbeat === undefined ? [] : [renderHeartbeat(heartbeat)]),
  ];
  const report = [renderMachine(machine), ...tables].join('\n\n');
  const json = {
    machine,
    rounds,
    figures: summed,
    prompt,
    memorySearch,
    context,
    markup,
    channels,
    heartbeat,
  };
  console.log(values.json ? JSON.stringify(json, null, 2) : report);
} finally {
  await model.close();
}

/** Throws when a name is not a section. */
function sectionsOf(list: string): Section[] {
  return list.split(',').map((name) => {
    const section = SECTIONS.find((known) => known === name.trim());
    if (section === undefined) {
      throw new Error(`"${name}" cannot be measured. Choose from ${SECTIONS.join(', ')}.`);
    }
    return section;
  });
}
