import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** What lives in a sandbox at a moment. */
export interface TreeUsage {
  readonly processes: number;
  /** What is theirs alone, in bytes; files in /tmp have a limit of their own. */
  readonly memoryBytes: number;
  /** What it wrote to disks so far, in bytes; that of ended processes counts with those who waited for them. */
  readonly writtenBytes: number;
}

/**
 * Counts the processes of a namespace, their memory and what they wrote. The kernel's own limits count per user and per
 * process, and not at all for root; this sees the sandbox as a whole. What ends meanwhile is left out.
 * Stops counting beyond `enough` processes, and does not wait: a fork bomb grows while others wait.
 */
export function treeUsage(pidNamespace: number, enough: number): TreeUsage {
  const wanted = `pid:[${pidNamespace}]`;
  let processes = 0;
  let memoryBytes = 0;
  let writtenBytes = 0;
  for (const id of readdirSync('/proc')) {
    if (!/^\d+$/.test(id) || namespaceOf(id) !== wanted) continue;
    processes += 1;
    if (processes > enough) break;
    // Anonymous memory alone: libraries are shared by everybody.
    memoryBytes += numberIn(`/proc/${id}/status`, /^RssAnon:\s+(\d+) kB$/m) * 1_024;
    writtenBytes += numberIn(`/proc/${id}/io`, /^write_bytes: (\d+)$/m);
  }
  return { processes, memoryBytes, writtenBytes };
}

function namespaceOf(id: string): string | null {
  try {
    return readlinkSync(`/proc/${id}/ns/pid`);
  } catch {
    return null; // Ended, or somebody else's.
  }
}

function numberIn(path: string, line: RegExp): number {
  try {
    return Number(line.exec(readFileSync(path, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0; // Ended.
  }
}
