import { parseArgs } from 'node:util';
import type { BenchRoom } from './bench-room.ts';
import { startModelSide } from './doubles.ts';
import {
  type Figure,
  FULL,
  LONG_SECTIONS,
  PLAIN_SECTIONS,
  type PlainSection,
  QUICK,
  type Rounds,
  type Section,
  TABLE_SECTIONS,
} from './figure.ts';
import { machineFacts } from './machine.ts';
import { measureLatency } from './measure-latency.ts';
import { measureMemory } from './measure-memory.ts';
import { measureMicro } from './measure-micro.ts';
import { measureStart } from './measure-start.ts';
import { measureThroughput } from './measure-throughput.ts';
import { OWN_TABLES, type Told } from './own-tables.ts';
import { renderMachine, renderTable, sumUp } from './report.ts';

const MEASURES: Readonly<
  Record<PlainSection, (room: BenchRoom, rounds: Rounds) => Promise<Figure[]>>
> = {
  start: measureStart,
  memory: measureMemory,
  latency: measureLatency,
  throughput: measureThroughput,
  micro: (_room, rounds) => measureMicro(rounds),
};

const USUAL: readonly Section[] = [...PLAIN_SECTIONS, ...TABLE_SECTIONS];
const ALL: readonly Section[] = [...USUAL, ...LONG_SECTIONS];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
    'node-arguments': { type: 'string', default: '' },
    distributed: { type: 'boolean', default: false },
    idle: { type: 'boolean', default: false },
    fairness: { type: 'boolean', default: false },
    soak: { type: 'boolean', default: false },
    minutes: { type: 'string' },
  },
});
// Whoever runs beside is ended with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const wanted = wantedSections();
const rounds = roundsOf(values.quick ? QUICK : FULL);
const machine = machineFacts();
const model = await startModelSide();
try {
  const nodeArguments = values['node-arguments'].split(' ').filter((argument) => argument !== '');
  const room: BenchRoom = { modelUrl: model.baseUrl, nodeArguments };
  const figures: Figure[] = [];
  const told = new Map<Section, Told>();
  for (const section of wanted) {
    process.stderr.write(`measuring ${section} …\n`);
    if (isPlain(section)) figures.push(...(await MEASURES[section](room, rounds)));
    else told.set(section, await OWN_TABLES[section](rounds, room));
  }
  const summed = figures.map(sumUp);
  const tables = [
    ...(summed.length > 0 ? [renderTable(summed)] : []),
    ...[...told.values()].map(({ text }) => text),
  ];
  const others = [...told].map(([section, { figures }]) => [inCamelCase(section), figures]);
  const json = { machine, rounds, figures: summed, ...Object.fromEntries(others) };
  const report = [renderMachine(machine), ...tables].join('\n\n');
  console.log(values.json ? JSON.stringify(json, null, 2) : report);
} finally {
  await model.close();
}

/** Those that are named, in any of the ways to name them; without a name all that run as a rule. */
function wantedSections(): readonly Section[] {
  const flags = LONG_SECTIONS.filter((section) => values[section]);
  const named = [...values.only.split(','), ...positionals.join(',').split(',')]
    .map((name) => name.trim())
    .filter((name) => name !== '')
    .map(sectionOf);
  return flags.length + named.length > 0 ? [...named, ...flags] : USUAL;
}

function roundsOf(rounds: Rounds): Rounds {
  return values.minutes === undefined ? rounds : { ...rounds, minutes: Number(values.minutes) };
}

/** Throws when it is not the name of a section. */
function sectionOf(name: string): Section {
  const section = ALL.find((known) => known === name);
  if (section !== undefined) return section;
  throw new Error(`"${name}" cannot be measured. Choose from ${ALL.join(', ')}.`);
}

function isPlain(section: Section): section is PlainSection {
  return PLAIN_SECTIONS.some((plain) => plain === section);
}

function inCamelCase(name: string): string {
  return name.replace(/-(.)/g, (_dash, letter: string) => letter.toUpperCase());
}
