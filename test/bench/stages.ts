import { join } from 'node:path';
import type { DurablePoint } from '@parley/core';
import { z } from 'zod';
import { startTelegramSide } from './doubles.ts';
import { readNpmStart, startChild } from './processes.ts';
import { renderTable } from './report.ts';
import type { BenchRounds } from './rounds.ts';
import { type BenchRoom, createSettings, withNewFolder, writeSettings } from './subjects.ts';

/**
 * A stage ends when a message passes this point of the durable path, and starts at the previous
 * point. Budgets are microseconds of processor time; their sum is the budget of one message.
 */
const STAGES: readonly {
  readonly end: DurablePoint;
  readonly name: string;
  readonly budget: number;
}[] = [
  { end: 'inbox-committed', name: 'accepting', budget: 400 },
  { end: 'turn-claimed', name: 'waking and claiming the lane', budget: 450 },
  { end: 'model-called', name: 'opening the turn: prompt, history, prompt record', budget: 1_200 },
  { end: 'step-journalled', name: 'asking the model and its journal', budget: 1_300 },
  { end: 'turn-committed', name: 'rendering and commit', budget: 700 },
  { end: 'part-sending', name: 'waking the delivery', budget: 400 },
  { end: 'part-sent', name: 'sending', budget: 600 },
  { end: 'part-recorded', name: 'recording the receipt', budget: 150 },
  { end: 'received', name: 'leaving the lane, claiming again, polling', budget: 800 },
];

/** Long enough for all work after an answer to end before the next message. */
const PAUSE_MS = 15;

/** The cost of a message from one point to the next. */
export interface StageFigure {
  readonly name: string;
  /** Processor time of the whole process with all its threads, per message, in microseconds. */
  readonly us: number;
  readonly budget: number;
  /** How often a message passes the end point. */
  readonly passings: number;
}

const Passed = z.record(z.string(), z.object({ us: z.number(), passings: z.number() }));

/**
 * One person in one chat, one message at a time: measures the processor time between the points of
 * the durable path, once history is full and the code is compiled.
 */
export async function measureStages(rounds: BenchRounds, room: BenchRoom): Promise<StageFigure[]> {
  const { stages, beforeStages } = rounds.messages;
  return withNewFolder(async (folder) => {
    await using opened = new AsyncDisposableStack();
    const telegram = await startTelegramSide();
    opened.defer(telegram.close);
    const data = writeSettings(folder, createSettings({ telegram, modelUrl: room.modelUrl }));
    const parley = startChild(
      'stages-process.ts',
      [data, join(folder, 'log')],
      [...readStartFlags(), ...room.nodeArguments],
    );
    opened.defer(parley.close);
    await parley.ask();
    await telegram.firstPoll();
    await telegram.oneByOne(beforeStages);
    await parley.ask({ kind: 'begin' });
    await telegram.oneByOne(stages, PAUSE_MS);
    const passed = Passed.parse(await parley.ask({ kind: 'read' }));
    return STAGES.map(({ end, name, budget }) => {
      const { us = 0, passings = 0 } = passed[end] ?? {};
      return { name, us: us / stages, budget, passings: passings / stages };
    });
  });
}

/** The flags for node in `npm start`; the program differs here. */
function readStartFlags(): string[] {
  const { args } = readNpmStart();
  return args.slice(
    0,
    args.findIndex((arg) => !arg.startsWith('-')),
  );
}

export function renderStages(figures: readonly StageFigure[]): string {
  const head = ['one message alone, µs of processor time', 'µs', 'budget', '', 'passings'];
  const row = (name: string, us: number, budget: number, passings: string) => {
    const verdict = us <= budget ? 'met' : 'MISSED';
    return [name, us.toFixed(0), `≤ ${budget}`, verdict, passings];
  };
  const sum = (of: 'us' | 'budget') => figures.reduce((total, figure) => total + figure[of], 0);
  return renderTable([
    head,
    ...figures.map(({ name, us, budget, passings }) => row(name, us, budget, passings.toFixed(2))),
    row('in all', sum('us'), sum('budget'), ''),
  ]);
}
