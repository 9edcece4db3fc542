import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandResult } from '../run.ts';
import { openSandbox, type Sandbox, type SandboxOptions } from '../sandbox.ts';

/**
 * For tests: a data folder laid out like Parley's, with the workspace inside, and a real sandbox.
 */
export interface SandboxScene {
  /** The folder contains a token, a database and settings, none of which a command may read. */
  readonly data: string;
  readonly workspace: string;
  readonly sandbox: Sandbox;
  open(options?: Partial<SandboxOptions>): Sandbox;
  run(command: string, timeoutMs?: number): Promise<CommandResult>;
  read(name: string): string;
  close(): void;
}

/** The text in every file that must stay hidden. */
export const CANARY = 'canary-7411';

export function openSandboxScene(
  options: Partial<SandboxOptions> = {},
  parent = tmpdir(),
): SandboxScene {
  const data = mkdtempSync(join(parent, 'parley-sandbox-'));
  const workspace = join(data, 'workspace');
  mkdirSync(workspace);
  for (const name of ['token', 'parley.db', 'parley.yaml']) writeFileSync(join(data, name), CANARY);
  writeFileSync(join(workspace, 'SOUL.md'), 'Be kind.');
  const open = (more: Partial<SandboxOptions> = {}): Sandbox =>
    openSandbox({ workspace, forbidden: [data], ...options, ...more });
  const sandbox = open();
  const { signal } = new AbortController();
  return {
    data,
    workspace,
    sandbox,
    open,
    run: (command, timeoutMs) => sandbox.run(command, { signal, timeoutMs, closed: ['SOUL.md'] }),
    read: (name) => readFileSync(join(workspace, name), 'utf8'),
    close: () => rmSync(data, { recursive: true, force: true }),
  };
}
