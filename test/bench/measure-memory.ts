import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchRoom, inTurns } from './bench-room.ts';
import { Collector, type Figure, type Rounds } from './figure.ts';
import { treeMemory } from './process-tree.ts';

const MESSAGES = 200;

/** Memory of the process tree when nothing happens: after the start, and after 200 messages. */
export async function measureMemory(room: BenchRoom, rounds: Rounds): Promise<Figure[]> {
  const fresh = { pss: new Collector(), rss: new Collector() };
  const used = { pss: new Collector(), rss: new Collector() };
  await inTurns(room, rounds.memory, async (subject, telegram, name) => {
    await subject.readyAt;
    const note = async (into: typeof fresh) => {
      await sleep(rounds.idleMs);
      const { pss, rss } = treeMemory(subject.pid);
      into.pss.add(name, pss);
      into.rss.add(name, rss);
    };
    await note(fresh);
    await telegram.oneByOne(MESSAGES);
    await note(used);
  });
  const about = { section: 'memory', unit: 'MB' } as const;
  const aim = { kind: 'at-most', value: 130 } as const;
  return [
    fresh.rss.figure({ ...about, name: 'idle after start, resident', aim }),
    fresh.pss.figure({ ...about, name: 'idle after start, proportional' }),
    used.rss.figure({ ...about, name: `idle after ${MESSAGES} messages, resident` }),
    used.pss.figure({ ...about, name: `idle after ${MESSAGES} messages, proportional` }),
  ];
}
