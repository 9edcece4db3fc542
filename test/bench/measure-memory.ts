import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchRoom, inNewFolder, withSubject } from './bench-room.ts';
import { Collector, type Figure, type Rounds } from './figure.ts';
import { treeMemory } from './process-tree.ts';
import type { StartedProcess } from './started-process.ts';
import { SUBJECTS, type SubjectName } from './subject.ts';

const MESSAGES = 200;

/**
 * Memory of the process tree when nothing happens: after a start, and after 200 messages. The very
 * first start is told apart, since it compiles everything and keeps what it needed for that.
 */
export async function measureMemory(room: BenchRoom, rounds: Rounds): Promise<Figure[]> {
  const first = memoryCollector(rounds.idleMs);
  const fresh = memoryCollector(rounds.idleMs);
  const used = memoryCollector(rounds.idleMs);
  for (let round = 0; round < rounds.memory; round += 1) {
    for (const name of SUBJECTS) {
      await inNewFolder(async (folder) => {
        await withSubject(room, name, folder, (subject) => first.note(name, subject));
        await withSubject(room, name, folder, async (subject, telegram) => {
          await fresh.note(name, subject);
          await telegram.oneByOne(MESSAGES);
          await used.note(name, subject);
        });
      });
    }
  }
  const about = { section: 'memory', unit: 'MB' } as const;
  const aim = { kind: 'at-most', value: 130 } as const;
  return [
    fresh.rss.figure({ ...about, name: 'idle after start, resident', aim }),
    fresh.pss.figure({ ...about, name: 'idle after start, proportional' }),
    used.rss.figure({ ...about, name: `idle after ${MESSAGES} messages, resident` }),
    used.pss.figure({ ...about, name: `idle after ${MESSAGES} messages, proportional` }),
    first.rss.figure({ ...about, name: 'idle after very first start, resident' }),
  ];
}

/** Both ways of counting memory, read after a while of quiet. */
function memoryCollector(idleMs: number) {
  const pss = new Collector();
  const rss = new Collector();
  return {
    pss,
    rss,
    async note(name: SubjectName, { pid }: StartedProcess): Promise<void> {
      await sleep(idleMs);
      const memory = treeMemory(pid);
      pss.add(name, memory.pss);
      rss.add(name, memory.rss);
    },
  };
}
