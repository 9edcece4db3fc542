import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildBundle } from '../services/bundle.ts';
import { measureBeside, renderBeside } from './beside.ts';
import { measureChannels, renderChannels } from './channels.ts';
import { measureContext, renderContext } from './context.ts';
import { measureDistributed, renderDistributed } from './distributed.ts';
import { startModelSide } from './doubles.ts';
import { measureFairness, renderFairness } from './fairness.ts';
import { renderHeartbeat, simulateBeatDays } from './heartbeat.ts';
import { measureIdle, renderIdle } from './idle.ts';
import { measureKills, renderKills } from './kills.ts';
import { measureMarkup, renderMarkup } from './markup.ts';
import { measureMemorySearch, renderMemorySearch } from './memory-search.ts';
import { measurePrompt, renderPrompt } from './prompt.ts';
import { measureQueue, renderQueue } from './queue.ts';
import { measureReplay, renderReplay } from './replay.ts';
import { measureReply, renderReply } from './reply.ts';
import { readMachineFacts, renderMachine } from './report.ts';
import { BESIDE_SECTIONS, type BenchRounds, type BesideSection, FULL, QUICK } from './rounds.ts';
import { measureSoak, renderSoak } from './soak.ts';
import { measureStages, renderStages } from './stages.ts';
import type { BenchRoom } from './subjects.ts';
import { measureTokens, renderTokens } from './tokens.ts';

type Measure = (rounds: BenchRounds, room: BenchRoom) => Promise<MeasuredSection>;

/** The result of a section, as data and as a printed table. */
interface MeasuredSection {
  readonly figures: unknown;
  readonly text: string;
}

/** Sections with their own tables that run by default. */
const TABLES: Readonly<Record<string, Measure>> = {
  stages: createMeasure(measureStages, renderStages),
  prompt: createMeasure(measurePrompt, renderPrompt),
  replay: createMeasure(measureReplay, renderReplay),
  'memory-search': createMeasure(measureMemorySearch, renderMemorySearch),
  context: createMeasure(measureContext, renderContext),
  tokens: createMeasure(measureTokens, renderTokens),
  markup: createMeasure(measureMarkup, renderMarkup),
  channels: createMeasure(measureChannels, renderChannels),
  heartbeat: createMeasure((rounds) => simulateBeatDays(rounds.days), renderHeartbeat),
};

/** Sections that take long or need servers, and only run on request. */
const LONG: Readonly<Record<string, Measure>> = {
  distributed: createMeasure((rounds) => measureDistributed(rounds), renderDistributed),
  queue: createMeasure(measureQueue, renderQueue),
  reply: createMeasure(measureReply, renderReply),
  idle: createMeasure(({ stillMs }) => measureIdle(stillMs), renderIdle),
  fairness: createMeasure((rounds) => measureFairness(rounds), renderFairness),
  soak: createMeasure(measureSoak, renderSoak),
  kills: createMeasure(({ kills }) => measureKills(kills), renderKills),
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
    'node-arguments': { type: 'string', default: '' },
    distributed: { type: 'boolean', default: false },
    reply: { type: 'boolean', default: false },
    idle: { type: 'boolean', default: false },
    fairness: { type: 'boolean', default: false },
    soak: { type: 'boolean', default: false },
    kills: { type: 'boolean', default: false },
    minutes: { type: 'string' },
  },
});
if (values.help) {
  console.log(formatUsage());
  process.exit();
}
// Uses the bundle, because that is what users run.
await buildBundle();
// Child processes end together with this one.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const wanted = selectSections();
const rounds = resolveRounds(values.quick ? QUICK : FULL);
const machine = readMachineFacts();
const model = await startModelSide();
try {
  const nodeArguments = values['node-arguments'].split(' ').filter((argument) => argument !== '');
  const room: BenchRoom = { modelUrl: model.baseUrl, nodeArguments };
  const measured: Record<string, MeasuredSection> = {};
  for (const [name, measure] of wanted) {
    process.stderr.write(`measuring ${name} …\n`);
    measured[name] = await measure(rounds, room);
  }
  const all = Object.entries(measured);
  const figures = Object.fromEntries(all.map(([name, one]) => [name, one.figures]));
  const report = [renderMachine(machine), ...all.map(([, { text }]) => text)].join('\n\n');
  console.log(values.json ? JSON.stringify({ machine, rounds, ...figures }, null, 2) : report);
} finally {
  await model.close();
}

/** The commands in README.md. */
function formatUsage(): string {
  const text = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8');
  return /```sh\n([\s\S]*?)\n```/.exec(text)?.[1] ?? '';
}

/**
 * The requested sections, named in any of the supported ways; by default, all standard sections.
 */
function selectSections(): [string, Measure][] {
  const flags = Object.keys(LONG).filter((name) => values[name as 'soak']);
  const named = [...values.only.split(','), ...positionals.join(',').split(',')]
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const names = [...named, ...flags];
  if (names.length === 0)
    return [['beside', createBesideMeasure(BESIDE_SECTIONS)], ...Object.entries(TABLES)];
  const rows = BESIDE_SECTIONS.filter((section) => names.includes(section));
  const others = names.filter((name) => !rows.some((row) => row === name));
  const tables = others.map((name): [string, Measure] => [name, measureNamed(name)]);
  return rows.length > 0 ? [['beside', createBesideMeasure(rows)], ...tables] : tables;
}

function createBesideMeasure(sections: readonly BesideSection[]): Measure {
  return createMeasure((rounds, room) => measureBeside(sections, rounds, room), renderBeside);
}

/** Throws for an unknown section name. */
function measureNamed(name: string): Measure {
  const measure =
    name === 'beside' ? createBesideMeasure(BESIDE_SECTIONS) : (TABLES[name] ?? LONG[name]);
  if (measure !== undefined) return measure;
  const all = ['beside', ...BESIDE_SECTIONS, ...Object.keys(TABLES), ...Object.keys(LONG)];
  throw new Error(`"${name}" cannot be measured. Choose from ${all.join(', ')}.`);
}

function resolveRounds(rounds: BenchRounds): BenchRounds {
  return values.minutes === undefined ? rounds : { ...rounds, minutes: Number(values.minutes) };
}

function createMeasure<T>(
  measure: (rounds: BenchRounds, room: BenchRoom) => Promise<T>,
  render: (figures: T) => string,
): Measure {
  return async (rounds, room) => {
    const figures = await measure(rounds, room);
    return { figures, text: render(figures) };
  };
}
