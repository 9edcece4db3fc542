import { parseArgs } from 'node:util';
import type { BenchRoom } from './bench-room.ts';
import { startModelSide } from './doubles.ts';
import { type Figure, FULL, QUICK, type Rounds, SECTIONS, type Section } from './figure.ts';
import { machineFacts } from './machine.ts';
import { measureLatency } from './measure-latency.ts';
import { measureMemory } from './measure-memory.ts';
import { measureMicro } from './measure-micro.ts';
import { measureStart } from './measure-start.ts';
import { measureThroughput } from './measure-throughput.ts';
import { renderMachine, renderTable, sumUp } from './report.ts';

const MEASURES: Readonly<Record<Section, (room: BenchRoom, rounds: Rounds) => Promise<Figure[]>>> =
  {
    start: measureStart,
    memory: measureMemory,
    latency: measureLatency,
    throughput: measureThroughput,
    micro: (_room, rounds) => measureMicro(rounds),
  };

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: SECTIONS.join(',') },
    json: { type: 'boolean', default: false },
    'node-arguments': { type: 'string', default: '' },
  },
});
const wanted = sectionsOf(values.only);
const rounds = values.quick ? QUICK : FULL;
const machine = machineFacts();
const model = await startModelSide();
try {
  const nodeArguments = values['node-arguments'].split(' ').filter((argument) => argument !== '');
  const room: BenchRoom = { modelUrl: model.baseUrl, nodeArguments };
  const figures: Figure[] = [];
  for (const section of wanted) {
    process.stderr.write(`measuring ${section} …\n`);
    figures.push(...(await MEASURES[section](room, rounds)));
  }
  const summed = figures.map(sumUp);
  const report = `${renderMachine(machine)}\n\n${renderTable(summed)}`;
  console.log(values.json ? JSON.stringify({ machine, rounds, figures: summed }, null, 2) : report);
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
