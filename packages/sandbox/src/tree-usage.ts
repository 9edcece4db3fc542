import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** What lives in a sandbox at a moment. */
export interface TreeUsage {
  readonly processes: number;
  /** What is theirs alone, in bytes; files in /tmp have a limit of their own. */
  readonly memoryBytes: number;
}

/**
 * Counts the processes of a namespace and their memory. The kernel's own limits count per user and per
 * process, and not at all for root; this sees the sandbox as a whole. What ends meanwhile is left out.
 * Stops counting beyond `enough` processes, and does not wait: a fork bomb grows while others wait.
 */
export function treeUsage(pidNamespace: number, enough: number): TreeUsage {
  const wanted = `pid:[${pidNamespace}]`;
  let processes = 0;
  let memoryBytes = 0;
  for (const id of readdirSync('/proc')) {
    if (!/^\d+$/.test(id) || namespaceOf(id) !== wanted) continue;
    processes += 1;
    if (processes > enough) break;
    memoryBytes += memoryOf(id);
  }
  return { processes, memoryBytes };
}

function namespaceOf(id: string): string | null {
  try {
    return readlinkSync(`/proc/${id}/ns/pid`);
  } catch {
    return null; // Ended, or somebody else's.
  }
}

/** Anonymous memory alone: libraries are shared by everybody. */
function memoryOf(id: string): number {
  try {
    const status = readFileSync(`/proc/${id}/status`, 'utf8');
    return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1_024;
  } catch {
    return 0; // Ended.
  }
}
