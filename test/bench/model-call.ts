import { z } from 'zod';
import type { CallOrder } from './model-call-process.ts';
import { startChild } from './processes.ts';
import { formatRounded, type RoundSummary, renderTable, summarizeRounds } from './report.ts';
import type { BenchRounds } from './rounds.ts';
import type { BenchRoom } from './subjects.ts';

/** The compared clients; those after the first two are baselines. */
const CLIENTS: readonly CallOrder['client'][] = ['parley', 'parley, nothing kept', 'ai-sdk'];
const WARM_UP = 300;

/** Processor time of one call in microseconds, over the rounds. */
export interface ClientFigure {
  readonly client: CallOrder['client'];
  readonly us: RoundSummary;
}

/**
 * One model call with a prompt of 65 kB, one at a time: by Parley, by Parley when no part of the
 * prompt was sent before, and by the AI SDK alone, each in its own processes, alternating.
 */
export async function measureModelCall(
  rounds: BenchRounds,
  room: BenchRoom,
): Promise<ClientFigure[]> {
  const measured = CLIENTS.map((): number[] => []);
  for (let turn = 0; turn < rounds.throughput; turn += 1) {
    for (const [at, client] of CLIENTS.entries()) {
      const order = { client, baseUrl: room.modelUrl, warmUp: WARM_UP, calls: rounds.repetitions };
      measured[at]?.push(await measureOne(order, room));
    }
  }
  return CLIENTS.map((client, at) => ({ client, us: summarizeRounds(measured[at] ?? []) }));
}

async function measureOne(order: CallOrder, { nodeArguments }: BenchRoom): Promise<number> {
  const child = startChild('model-call-process.ts', [], nodeArguments);
  try {
    return z.number().parse(await child.ask(order));
  } finally {
    await child.close();
  }
}

export function renderModelCall(figures: readonly ClientFigure[]): string {
  const rows = figures.map(({ client, us }) => [
    client,
    `${formatRounded(us.median)} µs`,
    `(${formatRounded(us.least)}–${formatRounded(us.most)})`,
  ]);
  return renderTable([['one call of the model, 65 kB', 'processor time', '(least–most)'], ...rows]);
}
