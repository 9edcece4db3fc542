import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { z } from 'zod';
import type { DataFolder } from './data-folder.ts';

/** How the commands of another terminal find the gateway that runs on a data folder. */
const Instance = z.object({ pid: z.int(), address: z.url(), host: z.string().exactOptional() });
export type Instance = z.infer<typeof Instance>;

/** Says where the gateway of this process is reached; what it gives back takes that back. */
export function announceHere(folder: DataFolder, address: string): () => void {
  const instance = { pid: process.pid, address, host: hostname() };
  writeInstance(folder, instance);
  return () => removeInstance(folder, instance);
}

/** Says where a gateway is reached. */
export function writeInstance(folder: DataFolder, instance: Instance): void {
  writeFileSync(folder.instanceFile, lineOf(instance), { mode: 0o600 });
}

/**
 * Removed at a clean end, unless another gateway on the same folder has come since; after a kill it
 * stays, which `findInstance` copes with.
 */
export function removeInstance(folder: DataFolder, instance: Instance): void {
  const { instanceFile } = folder;
  if (!existsSync(instanceFile) || readFileSync(instanceFile, 'utf8') !== lineOf(instance)) return;
  rmSync(instanceFile, { force: true });
}

function lineOf(instance: Instance): string {
  return `${JSON.stringify(instance)}\n`;
}

/** The running gateway of a data folder, or null: a file left by a killed process does not count. */
export function findInstance(folder: DataFolder): Instance | null {
  try {
    const parsed = Instance.safeParse(JSON.parse(readFileSync(folder.instanceFile, 'utf8')));
    if (!parsed.success) return null;
    const { pid, host = hostname() } = parsed.data;
    // On another machine that shares the folder the number is that of somebody else.
    return host === hostname() && isAlive(pid) ? parsed.data : null;
  } catch {
    // No file, or half a file of a process that was killed while writing it: nobody is there.
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
