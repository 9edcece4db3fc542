import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTelegramSide, type TelegramSide } from './doubles.ts';
import type { StartedProcess } from './started-process.ts';
import { SUBJECTS, type SubjectName, startSubject } from './subject.ts';

/** What a measurement does with a subject that polls. */
export type Measure = (
  subject: StartedProcess,
  telegram: TelegramSide,
  name: SubjectName,
) => Promise<void>;

/** Where the rounds of a section run. */
export interface BenchRoom {
  readonly modelUrl: string;
  readonly nodeArguments: readonly string[];
}

/**
 * Runs `measure` for both subjects, `rounds` times in turn, so that whatever else the machine does
 * meets both. Each time a new process, a new Telegram and, for the first, a new folder.
 */
export async function inTurns(room: BenchRoom, rounds: number, measure: Measure): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    for (const name of SUBJECTS) {
      await inNewFolder((folder) => withSubject(room, name, folder, measure));
    }
  }
}

/** Starts a subject in `folder`, measures, and ends it. */
export async function withSubject(
  room: BenchRoom,
  name: SubjectName,
  folder: string,
  measure: Measure,
): Promise<void> {
  const telegram = await startTelegramSide();
  const { modelUrl } = room;
  const nodeArguments = name === 'parley' ? room.nodeArguments : [];
  const subject = startSubject(name, { folder, telegram, modelUrl, nodeArguments });
  try {
    await subject.readyAt;
    await telegram.firstPoll();
    await measure(subject, telegram, name);
  } finally {
    await subject.stop();
    await telegram.close();
  }
}

/** Gives `use` an empty folder and removes it afterwards. */
export async function inNewFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
