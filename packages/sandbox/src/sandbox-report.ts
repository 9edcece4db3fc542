import { z } from 'zod';

/** What bubblewrap said on its status pipe so far. */
export interface SandboxReport {
  /** Of the processes inside; known once the sandbox stands. */
  readonly pidNamespace: number | null;
  /** Known once the command has run to its end. */
  readonly exitCode: number | null;
}

const Line = z.object({
  'pid-namespace': z.number().optional(),
  'exit-code': z.number().optional(),
});

/** Reads the lines of JSON; what is not complete yet is left out. */
export function readReport(text: string): SandboxReport {
  const lines = text.split('\n').slice(0, -1).map(parsed);
  return {
    pidNamespace: lines.findLast((line) => 'pid-namespace' in line)?.['pid-namespace'] ?? null,
    exitCode: lines.findLast((line) => 'exit-code' in line)?.['exit-code'] ?? null,
  };
}

function parsed(line: string): z.infer<typeof Line> {
  try {
    return Line.parse(JSON.parse(line));
  } catch {
    return {}; // A line of a newer version; without the numbers the command counts as not run.
  }
}
