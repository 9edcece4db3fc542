import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemTime } from '@parley/core';
import { isolateRelease } from './isolation.ts';
import type { Release } from './unpack-release.ts';

/** A release, and the copied data folder on which it runs. */
export interface IsolatedRelease {
  readonly release: Release;
  readonly copy: string;
  /** Variables for references in the settings; never those of the installation. */
  readonly env?: NodeJS.ProcessEnv;
  /** The user who owns the data, if the upgrade runs as root. */
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
}

export interface EndedCommand {
  /** Null if the command was killed at its deadline. */
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Texts beyond this length (characters) are cut; a release that floods its log is noticed anyway. */
const MAX_OUTPUT = 8_000_000;
const MAX_ERRORS = 200_000;

/** Runs one command of the release on its copy until it ends. */
export async function runIsolated(
  isolated: IsolatedRelease,
  words: readonly string[],
  withinMs: number,
): Promise<EndedCommand> {
  const child = spawnIsolated(isolated, words);
  const [out, err] = [collect(child, 'stdout', MAX_OUTPUT), collect(child, 'stderr', MAX_ERRORS)];
  const late = setTimeout(() => child.kill('SIGKILL'), withinMs);
  const [code] = await once(child, 'close');
  clearTimeout(late);
  return { code, out: out.text(), err: err.text() };
}

/** A running `parley start` of a release. */
export interface StartedRelease {
  /** How long (ms) it took until it was ready. */
  readonly readyMs: number;
  readonly hasEnded: () => boolean;
  /** The memory (MB) that it reports; null if it reports none. */
  memory(): Promise<number | null>;
  /** Asks it to stop. `code` is null if it was killed after `withinMs`. */
  stop(withinMs: number): Promise<{ readonly code: number | null; readonly tookMs: number }>;
  log(): ReleaseLog;
}

export interface ReleaseLog {
  readonly lines: number;
  readonly errors: number;
  /** The error with which it ended, or else its last lines. */
  readonly end: string;
}

export type StartResult =
  | { readonly kind: 'started'; readonly started: StartedRelease }
  | { readonly kind: 'failed'; readonly reason: string };

const POLL_INTERVAL_MS = 50;

/** Starts a release on its copy, and waits until it reports that it is ready. */
export async function startIsolated(
  isolated: IsolatedRelease,
  withinMs: number,
): Promise<StartResult> {
  const startedAt = systemTime.monotonic();
  const child = spawnIsolated(isolated, ['start', '--port', '0']);
  const [out, err] = [collect(child, 'stdout', MAX_OUTPUT), collect(child, 'stderr', MAX_ERRORS)];
  const ended = once(child, 'close').then(([code]: (number | null)[]) => code ?? null);
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  const elapsed = () => systemTime.monotonic() - startedAt;
  const started: Omit<StartedRelease, 'readyMs'> = {
    hasEnded: () => isOver,
    memory: () => readMemory(isolated.copy),
    stop: (limitMs) => stopProcess(child, ended, limitMs),
    log: () => summarizeLog(out, err),
  };
  while (!isOver && elapsed() < withinMs) {
    if (await isReady(isolated.copy))
      return { kind: 'started', started: { ...started, readyMs: elapsed() } };
    await sleep(POLL_INTERVAL_MS);
  }
  const hasEnded = isOver;
  if (!hasEnded) child.kill('SIGKILL');
  const code = await ended;
  const said = summarizeLog(out, err).end;
  const reason = hasEnded
    ? `it ended with code ${code} instead of starting: ${said}`
    : `it was not ready after ${Math.round(withinMs / 1_000)} s`;
  return { kind: 'failed', reason };
}

function spawnIsolated({ release, copy, env, owner }: IsolatedRelease, words: readonly string[]) {
  const isolated = isolateRelease(release, copy, words);
  return spawn(isolated.program, isolated.args, {
    ...{ cwd: copy, stdio: ['ignore', 'pipe', 'pipe'] },
    env: { ...env, ...isolated.env },
    ...owner,
  });
}

interface CollectedText {
  text(): string;
  lines(): number;
  errors(): number;
}

/** Lines are counted even if they are not kept. */
function collect(child: ChildProcess, name: 'stdout' | 'stderr', limit: number): CollectedText {
  let [text, lines, errors] = ['', 0, 0];
  child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
    lines += chunk.split('\n').length - 1;
    errors += chunk.split(/"level":"(?:error|fatal)"/).length - 1;
    text = (text + chunk).slice(0, limit);
  });
  return { text: () => text, lines: () => lines, errors: () => errors };
}

function summarizeLog(out: CollectedText, err: CollectedText): ReleaseLog {
  const said = err.text().trim() || out.text().trim();
  const lines = said.split('\n');
  const cause = lines.find((line) => /^\w*Error\b/.test(line)) ?? lines.slice(-3).join(' ');
  return {
    lines: out.lines() + err.lines(),
    errors: out.errors() + err.errors(),
    end: cause.slice(-400),
  };
}

async function stopProcess(child: ChildProcess, ended: Promise<number | null>, withinMs: number) {
  const at = systemTime.monotonic();
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), withinMs);
  const code = await ended;
  clearTimeout(late);
  return { code, tookMs: systemTime.monotonic() - at };
}

/** How long (ms) the release may take to answer one request. */
const ANSWER_WITHIN_MS = 2_000;

async function ask(copy: string, path: string): Promise<string | null> {
  const file = join(copy, 'gateway.json');
  if (!existsSync(file)) return null;
  try {
    const { address }: { readonly address: string } = JSON.parse(readFileSync(file, 'utf8'));
    const token = readFileSync(join(copy, 'token'), 'utf8').trim();
    const response = await fetch(`${address}${path}`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    return response.ok ? await response.text() : null;
  } catch {
    // It is starting, busy or stopping.
    return null;
  }
}

async function isReady(copy: string): Promise<boolean> {
  return (await ask(copy, '/readyz'))?.startsWith('ready') ?? false;
}

async function readMemory(copy: string): Promise<number | null> {
  const metrics = (await ask(copy, '/metrics')) ?? '';
  const bytes = /^process_resident_memory_bytes (\S+)$/m.exec(metrics)?.[1];
  return bytes === undefined ? null : Number(bytes) / 1_000_000;
}
