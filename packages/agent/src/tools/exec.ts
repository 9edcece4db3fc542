import { createRequire } from 'node:module';
import { stripVTControlCharacters } from 'node:util';
import type { ContextSource } from '@parley/prompt';
import type { CommandResult, TerminationReason } from '@parley/tools/sandbox';
import {
  CLOSED_TO_COMMANDS,
  listOtherFiles,
  type PromptFiles,
  type Workspace,
} from '@parley/workspace';
import { z } from 'zod';
import { defineTool, type Tool } from './tool.ts';

const require = createRequire(import.meta.url);

export interface ExecDeps {
  readonly approval: 'ask' | 'never';
  readonly network: boolean;
  /** The default time limit of a command, in seconds. */
  readonly seconds: number;
  readonly maxSeconds: number;
  readonly maxCharacters: number;
  readonly processes: number;
  readonly memoryMb: number;
  readonly diskMb: number;
  /** The folder to which commands are restricted. */
  readonly workspace: Pick<Workspace, 'folder' | 'commands'>;
  /** The files that become prompt text, which are read-only for commands. */
  readonly promptFiles: Pick<PromptFiles, 'patterns'>;
  /**
   * Parley's data folder and the user's home folder. A workspace that contains one of these folders
   * is refused.
   */
  readonly forbidden: readonly string[];
}

/** Time added to the limit of a command for setting up and removing its sandbox, in ms. */
const SANDBOX_OVERHEAD_MS = 10_000;
/** Characters added to the output limit for the line that states how the command ended. */
const STATUS_CHARACTERS = 500;

/**
 * Runs shell commands that can access only the workspace and cannot expose its private files to
 * others (G06, W09).
 */
export function createWorkspaceSandbox({
  workspace,
  promptFiles,
  ...deps
}: Omit<ExecDeps, 'approval'>) {
  // Loaded lazily, because few installations enable commands.
  const { openSandbox }: typeof import('@parley/tools/sandbox') = require('@parley/tools/sandbox');
  const sandbox = openSandbox({
    workspace: workspace.folder,
    forbidden: deps.forbidden,
    network: deps.network,
    limits: {
      outputCharacters: deps.maxCharacters,
      processes: deps.processes,
      memoryBytes: deps.memoryMb * 1_000_000,
      diskBytes: deps.diskMb * 1_000_000,
    },
  });
  return {
    run(command: string, options: { readonly signal: AbortSignal; readonly timeoutMs: number }) {
      const rules = { promptFiles: promptFiles.patterns, timeoutMs: options.timeoutMs };
      return workspace.commands.run(rules, (covered) =>
        sandbox.run(command, { ...options, ...covered }),
      );
    },
  };
}

/** Runs shell commands in a sandbox (G06). */
export function createExecTool(deps: ExecDeps): Tool {
  const { approval, network, seconds, maxSeconds, maxCharacters } = deps;
  const sandbox = createWorkspaceSandbox(deps);
  return defineTool({
    name: 'exec',
    summary: 'Runs a shell command in the workspace, in a sandbox.',
    hint: `It can use the workspace and the machine’s programs, nothing else${network ? '' : ', and no network'}. For files, use \`read\`, \`write\` and \`edit\`: files that others can read or that become part of prompts are read-only for commands, and files they create are your owner’s. Background processes end with the command.`,
    tier: 'sandbox',
    effect: 'external',
    audience: 'owner',
    approval,
    foreign: true,
    repeats: true,
    limits: {
      ms: maxSeconds * 1_000 + SANDBOX_OVERHEAD_MS,
      characters: maxCharacters + STATUS_CHARACTERS,
    },
    input: z.object({
      command: z.string().min(1).max(20_000).describe('For bash.'),
      seconds: z
        .int()
        .min(1)
        .max(maxSeconds)
        .optional()
        .describe(`Time limit. Default: ${seconds}.`),
    }),
    async run(input, { signal }) {
      const timeoutMs = Math.min(input.seconds ?? seconds, maxSeconds) * 1_000;
      const result = await sandbox.run(input.command, { signal, timeoutMs });
      const output = toPlainOutput(result.output);
      const note = `${describeExit(result)}${output === '' ? ' It printed nothing.' : ''}`;
      return { text: output, note, failed: result.exitCode !== 0 };
    },
  });
}

function describeExit({ exitCode, signal, ended, tookMs }: CommandResult): string {
  const took = `after ${(tookMs / 1_000).toFixed(1)} s`;
  if (ended !== null) return `[Killed ${took}: ${WHY[ended]}. What it had done by then is done.]`;
  if (exitCode === null)
    return `[Killed ${took} from outside${signal === null ? '' : ` by ${signal}`}.]`;
  return `[Exit code ${exitCode}${signal === null ? '' : ` (${signal})`} ${took}.]`;
}

const WHY: Readonly<Record<TerminationReason, string>> = {
  time: 'it exceeded its time limit',
  stopped: 'the turn was stopped',
  processes: 'it started too many processes',
  memory: 'it used too much memory',
  disk: 'it wrote too much data',
};

function toPlainOutput(output: string): string {
  return stripVTControlCharacters(output)
    .replace(/\r\n/g, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, '')
    .trimEnd();
}

const MAX_FILES = 20;

/** Describes the folder for commands and the files in it, for an owner's prompt (P06). */
export function createSandboxSource(
  {
    network,
    seconds,
    maxSeconds,
    maxCharacters,
    processes,
    memoryMb,
    diskMb,
  }: Omit<ExecDeps, 'workspace' | 'promptFiles' | 'forbidden'>,
  folder: string,
): ContextSource {
  const text = [
    'They start in your workspace; it and a /tmp of their own are all that they can write.',
    network ? 'They reach the network.' : 'They reach no network.',
    `One command: ${seconds} s (${maxSeconds} s if you ask for it), ${processes} processes, ${memoryMb} MB of memory, ${diskMb} MB written, ${maxCharacters} characters of output.`,
  ].join(' ');
  return {
    id: 'sandbox',
    async gather({ reader }) {
      if (reader.kind !== 'owner') return {};
      const { files, total } = await listOtherFiles(folder, MAX_FILES, CLOSED_TO_COMMANDS);
      return { sandbox: { kind: 'bubblewrap', text, files, totalFileCharacters: total } };
    },
  };
}
