import { type BenchRoom, inNewFolder, type Measure, withSubject } from './bench-room.ts';
import { Collector, type Figure, type Rounds } from './figure.ts';
import { SUBJECTS } from './subject.ts';

/**
 * Cold start: from the start of the process to the first poll that Telegram sees, and to the line that
 * says it is ready. First starts have an empty folder and no compile cache; later ones have both.
 */
export async function measureStart(room: BenchRoom, rounds: Rounds): Promise<Figure[]> {
  const poll = { first: new Collector(), later: new Collector() };
  const ready = { first: new Collector(), later: new Collector() };
  const noteAs = (age: 'first' | 'later'): Measure => {
    return async (subject, telegram, name) => {
      poll[age].add(name, (await telegram.firstPoll()) - subject.spawnedAt);
      ready[age].add(name, (await subject.readyAt) - subject.spawnedAt);
    };
  };
  for (let round = 0; round < rounds.starts; round += 1) {
    for (const name of SUBJECTS) {
      await inNewFolder(async (folder) => {
        await withSubject(room, name, folder, noteAs('first'));
        await withSubject(room, name, folder, noteAs('later'));
      });
    }
  }
  const about = { section: 'start', unit: 'ms' } as const;
  const aim = { kind: 'at-most', value: 600 } as const;
  return [
    poll.later.figure({ ...about, name: 'start to first poll', aim }),
    ready.later.figure({ ...about, name: 'start to ready' }),
    poll.first.figure({ ...about, name: 'very first start to first poll' }),
    ready.first.figure({ ...about, name: 'very first start to ready' }),
  ];
}
