import { type BenchRoom, inTurns } from './bench-room.ts';
import { Collector, type Figure, type Rounds } from './figure.ts';
import { quantile } from './statistics.ts';

/** One person writes, waits, writes again: ms from the message to the arrival of the answer. */
export async function measureLatency(room: BenchRoom, rounds: Rounds): Promise<Figure[]> {
  const p50 = new Collector();
  const p95 = new Collector();
  await inTurns(room, rounds.latency, async (_subject, telegram, name) => {
    await telegram.oneByOne(rounds.messages.warmUp);
    const latencies = await telegram.oneByOne(rounds.messages.latency);
    p50.add(name, quantile(latencies, 0.5));
    p95.add(name, quantile(latencies, 0.95));
  });
  const about = { section: 'latency', unit: 'ms' } as const;
  const aim = { kind: 'at-most', value: 8 } as const;
  return [
    p50.figure({ ...about, name: 'message to answer, median', aim }),
    p95.figure({ ...about, name: 'message to answer, 95th percentile' }),
  ];
}
