import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchRoom, inNewFolder, withSubject } from './bench-room.ts';
import { Collector, type Figure, type Rounds } from './figure.ts';
import { peakMemory, treeMemory } from './process-tree.ts';
import type { StartedProcess } from './started-process.ts';
import { SUBJECTS, type SubjectName } from './subject.ts';

const MESSAGES = 200;
/** A load: so many chats that each always wait for an answer, and what they write in all. */
const LOAD = { chats: 200, messages: 1_200, withinMs: 600_000 };
/** How long after a load memory must be back. */
const REST_MS = 60_000;

/**
 * Memory of the process tree when nothing happens: after a start, after 200 messages, and a minute after
 * a load, with its peak. The very first start stands apart, since it compiles everything and keeps what
 * it needed for that.
 */
export async function measureMemory(room: BenchRoom, rounds: Rounds): Promise<Figure[]> {
  const first = memoryCollector(rounds.idleMs);
  const fresh = memoryCollector(rounds.idleMs);
  const used = memoryCollector(rounds.idleMs);
  const peak = new Collector();
  const rested = new Collector();
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
      // A new Telegram numbers from 1 again, and what was heard before is not answered twice.
      await inNewFolder(async (folder) => {
        await withSubject(room, name, folder, async (subject, telegram) => {
          await telegram.sideBySide(LOAD.chats, LOAD.messages, LOAD.withinMs);
          peak.add(name, peakMemory(subject.pid));
          await sleep(REST_MS);
          rested.add(name, treeMemory(subject.pid).rss);
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
    peak.figure({ ...about, name: loadName('at the most'), aim: { kind: 'at-most', value: 220 } }),
    rested.figure({
      ...about,
      name: loadName('a minute after'),
      aim: { kind: 'at-most', value: 160 },
    }),
    first.rss.figure({ ...about, name: 'idle after very first start, resident' }),
  ];
}

const loadName = (when: string): string =>
  `${LOAD.messages} messages of ${LOAD.chats} chats at once, ${when}, resident`;

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
