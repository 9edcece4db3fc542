import { readFileSync } from 'node:fs';
import {
  createReplayReport,
  type ReplayOutcome,
  type ReplayReport,
} from '@parley/agent/replay-outcome';
import { reasonOf, silentLogger, systemTime } from '@parley/core';
import type { Store } from '@parley/store';
import { type CliContext, formatJson, hasDatabase, withStore } from '../../cli.ts';
import { CliError, formatCommandLine, UsageError } from '../../data-folder.ts';
import { readSettings } from '../../settings.ts';
import { openReplays, type RecordedTurnKey } from './open-replays.ts';
import type { ReplayFlags } from './replay-choice.ts';
import { formatReport } from './replay-text.ts';

/**
 * `parley replay` (G22): runs recorded turns again and shows what changed. It works with or without
 * a running gateway, on the same database, and stores nothing but what the model's answers cost.
 */
export async function runReplay(
  cli: CliContext,
  what: string,
  count: number | undefined,
  flags: ReplayFlags,
): Promise<number> {
  const { folder, env, print } = cli;
  if (count !== undefined && what !== 'last')
    throw new UsageError('A number of turns follows "last" only, as in "parley replay last 20".');
  const loaded = readSettings(folder, env);
  if (!hasDatabase(folder, loaded)) throw createUnknownError(cli, what);
  const limit = count ?? flags.limit;
  const report = await withStore(cli, async (store) => {
    const turns = await findTurns(cli, store, what, limit);
    const { release } = flags;
    if (release !== undefined) {
      const { replayWithRelease } = await import('./other-release.ts');
      return replayWithRelease(cli, { release, what, count: limit, flags, store, loaded });
    }
    const choice = { ...flags, files: readFiles(flags.file) };
    const { clock, monotonic } = systemTime;
    const deps = { store, loaded, folder, env, clock, monotonic, log: silentLogger };
    return replayAll(turns, openReplays(choice, deps), flags.seconds * 1_000);
  });
  if (report.turns.length === 0) throw createUnknownError(cli, what);
  print(flags.json ? formatJson(report) : formatReport(report));
  return getExitCode(report);
}

/** One turn after another, so that a model's rate limit is not the first thing that is measured. */
async function replayAll(
  turns: readonly RecordedTurnKey[],
  replay: ReturnType<typeof openReplays>,
  ms: number,
): Promise<ReplayReport> {
  const outcomes: ReplayOutcome[] = [];
  for (const turn of turns) {
    const outcome = await replay(turn, AbortSignal.timeout(ms));
    if (outcome !== null) outcomes.push(outcome);
  }
  return createReplayReport(outcomes);
}

/** 0 if no turn changed, and at least one could be built again. */
function getExitCode({ same, changed, diverged, failed }: ReplayReport): number {
  return same > 0 && changed + diverged + failed === 0 ? 0 : 1;
}

/** The turns that the words name: `last`, a turn, or a chat; newest first. */
async function findTurns(
  cli: CliContext,
  { prompts, recordedTurns }: Pick<Store, 'prompts' | 'recordedTurns'>,
  what: string,
  limit: number,
): Promise<readonly RecordedTurnKey[]> {
  if (what === 'last') return prompts.list({ limit });
  const turn = await recordedTurns.ofTurn(what);
  if (turn !== null) return [{ ...turn, model: turn.model ?? '' }];
  const ofChat = await prompts.list({ chat: what, limit });
  if (ofChat.length === 0) throw createUnknownError(cli, what);
  return ofChat;
}

function createUnknownError({ folder }: CliContext, what: string): CliError {
  const message =
    what === 'last'
      ? 'No turn has been recorded yet.'
      : `No recorded turn and no chat is called ${JSON.stringify(what)}.`;
  return new CliError(
    'replay-unknown',
    `${message} "${formatCommandLine('prompt --list', folder)}" lists the recorded turns; they are kept for inspector.keepDays.`,
  );
}

/** Reads the new texts of files; throws UsageError or CliError. */
function readFiles(given: readonly string[] = []): Readonly<Record<string, string>> {
  const entries = given.map((one) => {
    const at = one.indexOf('=');
    const [name, path] = [one.slice(0, at).trim(), one.slice(at + 1).trim()];
    if (at < 1 || path === '')
      throw new UsageError(`--file takes NAME=path, such as SOUL.md=new.md, not "${one}".`);
    try {
      return [name, readFileSync(path, 'utf8')] as const;
    } catch (error) {
      throw new CliError(
        'replay-file',
        `The new text of ${name} cannot be read: ${reasonOf(error)}.`,
      );
    }
  });
  return Object.fromEntries(entries);
}
