import { setTimeout as sleep } from 'node:timers/promises';
import { readPeakMemory, readTreeCpuMs, readTreeMemory } from './processes.ts';
import {
  computeQuantile,
  formatRounded,
  type RoundSummary,
  renderTable,
  summarizeRounds,
} from './report.ts';
import type { BenchRounds, BesideSection } from './rounds.ts';
import {
  type BenchRoom,
  measureInTurns,
  type RunningSubject,
  SUBJECTS,
  type SubjectName,
  startWithTelegram,
  withNewFolder,
} from './subjects.ts';

// Parley compared with other bots, one table per run: each row is a measure, each column a subject.

/** The aim for Parley's median: a value, or a multiple of the minimal bot's median. */
interface MedianAim {
  readonly kind: 'at-most' | 'at-least';
  readonly value: number;
  readonly timesLeast?: true;
}

interface BesideRow {
  readonly section: BesideSection;
  readonly name: string;
  readonly unit: string;
  readonly aim?: MedianAim;
}

const CHATS = 50;
/**
 * The load before memory is read: the number of chats, each with one waiting message, and the total
 * number of messages.
 */
const LOAD = { chats: 200, messages: 1_200, withinMs: 600_000 };
const REST_MS = 60_000;

const atMost = (value: number): MedianAim => ({ kind: 'at-most', value });
const load = `${LOAD.messages} messages of ${LOAD.chats} chats`;

const ROWS = {
  firstPoll: {
    section: 'start',
    name: 'very first start to first poll',
    unit: 'ms',
    aim: atMost(900),
  },
  laterPoll: { section: 'start', name: 'start to first poll', unit: 'ms', aim: atMost(600) },
  firstIdle: {
    section: 'memory',
    name: 'idle after very first start',
    unit: 'MB',
    aim: atMost(130),
  },
  laterIdle: { section: 'memory', name: 'idle after start', unit: 'MB', aim: atMost(130) },
  loaded: { section: 'memory', name: `after ${load}`, unit: 'MB', aim: atMost(220) },
  rested: { section: 'memory', name: 'a minute later', unit: 'MB', aim: atMost(160) },
  peak: { section: 'memory', name: 'at the most', unit: 'MB' },
  p50: {
    section: 'latency',
    name: 'message to answer, median',
    unit: 'ms',
    aim: { kind: 'at-most', value: 2.5, timesLeast: true },
  },
  p95: { section: 'latency', name: 'message to answer, 95th percentile', unit: 'ms' },
  rate: {
    section: 'throughput',
    name: `answers over ${CHATS} chats`,
    unit: '/s',
    aim: { kind: 'at-least', value: 0.5, timesLeast: true },
  },
  cpu: {
    section: 'throughput',
    name: 'processor time of an answer',
    unit: 'ms',
    aim: { kind: 'at-most', value: 3, timesLeast: true },
  },
} as const satisfies Record<string, BesideRow>;
type RowName = keyof typeof ROWS;

/** A row of the table, with its rounds summarized. */
export interface BesideFigure extends BesideRow {
  readonly subjects: Readonly<Record<SubjectName, RoundSummary>>;
  /** The aim as a number, and whether Parley's median reached it. */
  readonly goal?: { readonly value: number; readonly met: boolean };
}

type NoteFigure = (row: RowName, subject: SubjectName, value: number) => void;

const MEASURES: Readonly<
  Record<BesideSection, (room: BenchRoom, rounds: BenchRounds, note: NoteFigure) => Promise<void>>
> = {
  start: measureStart,
  memory: measureMemory,
  latency: measureLatency,
  throughput: measureThroughput,
};

/** Measures the rows of the sections, alternating between all subjects in each round. */
export async function measureBeside(
  sections: readonly BesideSection[],
  rounds: BenchRounds,
  room: BenchRoom,
): Promise<BesideFigure[]> {
  const values = new Map<string, number[]>();
  const at = (row: string, subject: SubjectName) => values.get(`${row} ${subject}`) ?? [];
  const note: NoteFigure = (row, subject, value) =>
    void values.set(`${row} ${subject}`, [...at(row, subject), value]);
  for (const section of sections) {
    process.stderr.write(`  ${section} …\n`);
    await MEASURES[section](room, rounds, note);
  }
  return Object.entries<BesideRow>(ROWS)
    .filter(([, { section }]) => sections.includes(section))
    .map(([name, row]) => {
      const of = (subject: SubjectName) => summarizeRounds(at(name, subject));
      const [parley, least, library, chatSdk, bare] = [
        of('parley'),
        of('least'),
        of('library'),
        of('chat-sdk'),
        of('bare'),
      ];
      const goal = row.aim && computeGoal(row.aim, parley.median, least.median);
      const subjects = { parley, least, library, 'chat-sdk': chatSdk, bare };
      return { ...row, subjects, ...(goal !== undefined && { goal }) };
    });
}

function computeGoal(
  { kind, value: factor, timesLeast }: MedianAim,
  parley: number,
  least: number,
) {
  const value = timesLeast ? factor * least : factor;
  return { value, met: kind === 'at-most' ? parley <= value : parley >= value };
}

/** First starts have an empty folder and no compile cache; later starts have both. */
async function measureStart(
  room: BenchRoom,
  { starts }: BenchRounds,
  note: NoteFigure,
): Promise<void> {
  for (let number = 0; number < starts; number += 1) {
    for (const name of SUBJECTS) {
      await withNewFolder(async (folder) => {
        for (const row of ['firstPoll', 'laterPoll'] as const) {
          await using started = await startWithTelegram(room, name, folder);
          const { subject, telegram } = started;
          note(row, name, (await telegram.firstPoll()) - subject.spawnedAt);
        }
      });
    }
  }
}

/**
 * Resident memory of all processes of a subject: idle after the start, right after a load, and a
 * minute later.
 */
async function measureMemory(
  room: BenchRoom,
  rounds: BenchRounds,
  note: NoteFigure,
): Promise<void> {
  const resident = ({ pids }: RunningSubject) => sum(pids.map((pid) => readTreeMemory(pid).rss));
  for (let number = 0; number < rounds.memory; number += 1) {
    for (const name of SUBJECTS) {
      await withNewFolder(async (folder) => {
        for (const row of ['firstIdle', 'laterIdle'] as const) {
          await using started = await startWithTelegram(room, name, folder);
          await sleep(rounds.idleMs);
          note(row, name, resident(started.subject));
        }
      });
    }
    // Measures all subjects while they are idle during the same minute.
    await using loaded = new AsyncDisposableStack();
    const resting: RunningSubject[] = [];
    for (const name of SUBJECTS) {
      const started = loaded.use(await startWithTelegram(room, name));
      const { subject, telegram } = started;
      await telegram.sideBySide(LOAD.chats, LOAD.messages, LOAD.withinMs);
      note('loaded', name, resident(subject));
      note('peak', name, sum(subject.pids.map(readPeakMemory)));
      resting.push(subject);
    }
    await sleep(REST_MS);
    for (const subject of resting) note('rested', subject.name, resident(subject));
  }
}

/**
 * One person writes and waits, repeatedly; the times are in ms, from each message to the arrival of
 * its answer.
 */
async function measureLatency(
  room: BenchRoom,
  rounds: BenchRounds,
  note: NoteFigure,
): Promise<void> {
  await measureInTurns(room, rounds.latency, async ({ name }, telegram) => {
    await telegram.oneByOne(rounds.messages.warmUp);
    const latencies = await telegram.oneByOne(rounds.messages.latency);
    note('p50', name, computeQuantile(latencies, 0.5));
    note('p95', name, computeQuantile(latencies, 0.95));
  });
}

/**
 * Answers per second while each of 50 chats always waits for one answer, and the processor time of
 * each answer.
 */
async function measureThroughput(
  room: BenchRoom,
  rounds: BenchRounds,
  note: NoteFigure,
): Promise<void> {
  const { throughput, warmUp } = rounds.messages;
  await measureInTurns(room, rounds.throughput, async ({ name, pids }, telegram) => {
    await telegram.sideBySide(CHATS, warmUp, rounds.throughputMs);
    const cpuMs = () => sum(pids.map(readTreeCpuMs));
    const before = cpuMs();
    const { latencies, ms } = await telegram.sideBySide(CHATS, throughput, rounds.throughputMs);
    note('rate', name, (latencies.length * 1_000) / ms);
    note('cpu', name, (cpuMs() - before) / latencies.length);
  });
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** The printed table: medians, and Parley's minimum and maximum over all rounds. */
export function renderBeside(figures: readonly BesideFigure[]): string {
  const head = [
    '',
    'Parley',
    '',
    'minimal durable',
    'with libraries',
    'Chat SDK',
    'bare telegraf',
    'aim',
    '',
  ];
  const rows = figures.map(({ name, unit, subjects, aim, goal }) => {
    const { parley, least, library, bare } = subjects;
    return [
      `${name}, ${unit}`,
      formatRounded(parley.median),
      `(${formatRounded(parley.least)}–${formatRounded(parley.most)})`,
      formatRounded(least.median),
      formatRounded(library.median),
      formatRounded(subjects['chat-sdk'].median),
      formatRounded(bare.median),
      goal ? `${aim?.kind === 'at-most' ? '≤' : '≥'} ${formatRounded(goal.value)}` : '',
      goal ? (goal.met ? 'met' : 'MISSED') : '',
    ];
  });
  return renderTable([head, ...rows]);
}
