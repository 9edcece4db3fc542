import { type BenchRoom, inTurns } from './bench-room.ts';
import { Collector, type Figure, type Rounds } from './figure.ts';
import { treeCpuMs } from './process-tree.ts';

const CHATS = 50;

/** Replies per second while each of 50 chats always waits for one, and the processor time of each. */
export async function measureThroughput(room: BenchRoom, rounds: Rounds): Promise<Figure[]> {
  const rate = new Collector();
  const cpu = new Collector();
  await inTurns(room, rounds.throughput, async (subject, telegram, name) => {
    const { throughput, warmUp } = rounds.messages;
    await telegram.sideBySide(CHATS, warmUp, rounds.throughputMs);
    const before = treeCpuMs(subject.pid);
    const { latencies, ms } = await telegram.sideBySide(CHATS, throughput, rounds.throughputMs);
    rate.add(name, (latencies.length * 1_000) / ms);
    cpu.add(name, (treeCpuMs(subject.pid) - before) / latencies.length);
  });
  const aim = { kind: 'at-least', value: 400 } as const;
  const section = 'throughput';
  return [
    rate.figure({ section, unit: '/s', name: `replies over ${CHATS} chats`, aim }),
    cpu.figure({ section, unit: 'ms', name: 'processor time of one reply' }),
  ];
}
