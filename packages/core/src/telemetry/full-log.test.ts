import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { describe, expect, inject, it } from 'vitest';

/** Logs the number of lines given as its argument, 1 kB each, and then prints its memory in MB. */
const PROGRAM = `
  const { createLogger } = await import('${import.meta.resolve('./logger.ts')}');
  const log = createLogger({ level: 'info', format: 'json', scrub: (text) => text });
  for (let line = 0; line < Number(process.argv[1]); line += 1) log.info({ line }, 'x'.repeat(1_000));
  process.stdout.write(String(Math.round(process.memoryUsage().rss / 1_048_576)));
`;
/** Writes to this device fail as on a full disk. */
const FULL = '/dev/full';

/**
 * Runs a program that logs this many lines of 1 kB to a full disk, and returns its memory in MB.
 */
function talk(lines: number): { code: number | null; memory: number } {
  const full = openSync(FULL, 'w');
  try {
    const { status, stdout } = spawnSync(
      process.execPath,
      ['--input-type=module', '--eval', PROGRAM, String(lines)],
      {
        stdio: ['ignore', 'pipe', full],
      },
    );
    return { code: status, memory: Number(stdout) };
  } finally {
    closeSync(full);
  }
}

describe.runIf(inject('fullDevicePath'))('a log on a full disk', () => {
  it('[D07] [D10] does not end the process, and keeps only a bounded number of lines in memory', () => {
    // Both runs have filled the space for young objects; if lines were kept in memory, the second
    // run would use 40 MB more.
    const few = talk(20_000);
    const many = talk(60_000);
    expect([few.code, many.code]).toEqual([0, 0]);
    expect(many.memory - few.memory).toBeLessThan(20);
  });
});
