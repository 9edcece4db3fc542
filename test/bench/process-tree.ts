import { readdirSync, readFileSync } from 'node:fs';

/** Memory of a process and all its children, in MB (2^20 bytes). */
export interface TreeMemory {
  /** Resident; what processes share is counted in each. */
  readonly rss: number;
  /** Proportional: what processes share is divided among them. */
  readonly pss: number;
  readonly processes: number;
}

/** Ticks per second of the times in `/proc`; 100 on every Linux that Node runs on. */
const TICKS = 100;

/** Reads the kernel's own account of memory. Linux only. */
export function treeMemory(pid: number): TreeMemory {
  let rss = 0;
  let pss = 0;
  const tree = treeOf(pid);
  for (const member of tree) {
    const rollup = readFileSync(`/proc/${member}/smaps_rollup`, 'utf8');
    rss += kilobytes(rollup, 'Rss');
    pss += kilobytes(rollup, 'Pss');
  }
  return { rss: rss / 1024, pss: pss / 1024, processes: tree.length };
}

/** Processor time of a process and its children so far, ended ones included, in ms, in steps of 10. */
export function treeCpuMs(pid: number): number {
  const ticks = treeOf(pid).map((member) => statOf(member).ticks);
  return (ticks.reduce((sum, one) => sum + one, 0) * 1000) / TICKS;
}

/** The process that started this one. */
export function parentOf(pid: number): number {
  return statOf(pid).parent;
}

/** The most memory a process ever had resident, in MB. */
export function peakMemory(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return kilobytes(status, 'VmHWM') / 1024;
}

/** Files and sockets that a process has open. */
export function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

function treeOf(root: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      parents.set(Number(name), statOf(Number(name)).parent);
    } catch {
      // It ended while we were looking.
    }
  }
  const tree = [root];
  for (const member of tree) {
    for (const [pid, parent] of parents) if (parent === member) tree.push(pid);
  }
  return tree;
}

/** Field numbers as in proc_pid_stat(5); the name in brackets may hold spaces. */
function statOf(pid: number): { parent: number; ticks: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const field = (number: number): number => Number(fields[number - 3]);
  // User and system time of its own, then of its children that have ended.
  return { parent: field(4), ticks: field(14) + field(15) + field(16) + field(17) };
}

function kilobytes(rollup: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(rollup)?.[1] ?? Number.NaN);
}
